// @ts-check
import { answered, requestOf, serve } from './lines.mjs';

const { fetch } = globalThis;

await serve(async (columns) => {
  const { method, url, headers, whole, pieces } = requestOf(columns);
  const body = pieces ?? whole;
  const options = { method, headers, ...(body && { body }), ...(pieces && { duplex: 'half' }) };
  const response = await fetch(url, /** @type {RequestInit} */ (options));
  return answered(response.status, response.headers, await response.arrayBuffer());
});
