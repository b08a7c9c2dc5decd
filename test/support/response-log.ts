/** What the parser of upstream responses tells, written down so that two readings can be compared. */
import { ResponseParser } from '../../src/proxy/upstream/response-parser.ts';

export interface ReadResponse {
  status: number;
  reason: string;
  headers: readonly string[];
  keepAlive: boolean;
  /** Latin-1. */
  body: string;
  trailers: readonly string[];
}

/** All responses on a connection, and what became of it. */
export interface ReadBuffer {
  responses: ReadResponse[];
  /** Bytes that belong to the responses, up to the first that belongs to none. */
  taken: number;
  fault: string | null;
  /** Of a response that did not end. */
  unfinished: ReadResponse | null;
}

/**
 * Feeds `bytes` in pieces, the way a connection does: every piece comes in the same buffer.
 *
 * @param heads for each expected response, whether it is one to a HEAD
 * @param cuts positions where a piece ends
 * @param closes the upstream ends the connection after the last piece
 */
export function readResponses(
  bytes: Buffer,
  heads: readonly boolean[],
  cuts: readonly number[] = [],
  closes = true,
): ReadBuffer {
  const reading: ReadBuffer = { responses: [], taken: 0, fault: null, unfinished: null };
  const expected = [...heads];
  const body: Buffer[] = [];
  const parser = new ResponseParser({
    onEarlyHints: () => undefined,
    onHead({ status, reason, headers, keepAlive }) {
      reading.unfinished = { status, reason, headers, keepAlive, body: '', trailers: [] };
    },
    onBytes(chunk, from, to) {
      if (to <= from) throw new Error('an event without bytes');
      body.push(Buffer.from(chunk.subarray(from, to)));
    },
    onEnd(trailers) {
      if (reading.unfinished === null) throw new Error('an end without a head');
      const text = Buffer.concat(body.splice(0)).toString('latin1');
      reading.responses.push({ ...reading.unfinished, body: text, trailers });
      reading.unfinished = null;
    },
  });
  const shared = Buffer.alloc(Math.max(1, bytes.length), 0x0a);
  const next = (): void => {
    const toHead = expected.shift();
    if (toHead !== undefined) parser.begin(toHead);
  };
  next();
  try {
    let from = 0;
    for (const to of [...cuts, bytes.length]) {
      if (to <= from) continue;
      // One feed ends with the response; what is left of the piece is for the next one.
      while (from < to && !parser.over) {
        bytes.copy(shared, 0, from, to);
        const taken = parser.feed(shared, to - from);
        shared.fill(0x0a, 0, to - from);
        reading.taken += taken;
        from += taken;
        if (parser.over) next();
      }
      if (parser.over) break;
    }
    if (closes) parser.close();
  } catch (error) {
    reading.fault = (error as Error).message.replace('the message has ', '');
  }
  if (reading.unfinished !== null) reading.unfinished.body = Buffer.concat(body).toString('latin1');
  return reading;
}

/** A piece for every byte. */
export function everyByte(bytes: Buffer): number[] {
  return Array.from(bytes, (_, i) => i + 1);
}
