// @ts-check
import { Readable } from 'node:stream';
import { answered, packageNamed, requestOf, serve } from './lines.mjs';

const { default: axios } = await packageNamed('axios');

await serve(async (columns) => {
  const { method, url, headers, whole, pieces } = requestOf(columns);
  const response = await axios.request({
    method,
    url,
    headers,
    data: pieces ? Readable.from(pieces) : whole,
    responseType: 'arraybuffer',
    // Its own limits: 10 MB for what it sends, and an exception for what is not 2xx.
    maxBodyLength: Infinity,
    validateStatus: () => true,
  });
  return answered(response.status, Object.entries(response.headers), response.data);
});
