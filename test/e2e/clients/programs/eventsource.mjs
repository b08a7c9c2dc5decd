// @ts-check
import { encoded, packageNamed, pairs, serve } from './lines.mjs';

const { EventSource } = await packageNamed('eventsource');
const { fetch } = globalThis;

/** Listens for so many events, each of which is a line of its own, and hangs up. */
await serve(
  ([url = '', count = '', ...more]) =>
    new Promise((resolve) => {
      let left = Number(count);
      const source = new EventSource(url, {
        fetch: (/** @type {string} */ input, /** @type {RequestInit & { headers: object }} */ init) =>
          fetch(input, { ...init, headers: { ...init.headers, ...pairs(more) } }),
      });
      const end = (/** @type {(string | number)[]} */ columns) => {
        source.close();
        resolve(columns);
      };
      const heard = (/** @type {MessageEvent} */ { type, lastEventId, data }) => {
        process.stdout.write(`${['event', type, lastEventId, encoded(data)].join('\t')}\n`);
        if ((left -= 1) === 0) end(['done']);
      };
      source.addEventListener('message', heard);
      source.addEventListener('moved', heard);
      source.addEventListener('error', (/** @type {{ code?: number, message?: string }} */ { code }) => {
        // Without a code it has lost the connection, and comes back by itself.
        if (code !== undefined) end([code]);
      });
    }),
);
