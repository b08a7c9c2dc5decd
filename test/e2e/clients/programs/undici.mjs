// @ts-check
import { Readable } from 'node:stream';
import { answered, packageNamed, requestOf, serve } from './lines.mjs';

const { request } = await packageNamed('undici');

await serve(async (columns) => {
  const { method, url, headers, whole, pieces } = requestOf(columns);
  const response = await request(url, { method, headers, body: pieces ? Readable.from(pieces) : whole });
  return answered(response.statusCode, Object.entries(response.headers), await response.body.arrayBuffer());
});
