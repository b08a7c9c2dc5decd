/** What the gateway reads in the bytes of a connection. */
import { MessageFault } from '../../../src/http1/message-fault.ts';
import type { RequestHead } from '../../../src/http1/request-head.ts';
import { RequestReader } from '../../../src/http1/request-reader.ts';
import type { Reading } from './node-reading.ts';

const mostHeadBytes = 16 * 1024;

export interface OurReading extends Reading {
  /** Offset behind each request. */
  readonly ends: number[];
  /** Reason for which the rest was rejected. */
  fault?: string;
  /** Whether no more is read, because the client said so. */
  over?: boolean;
}

/** Reads bytes that arrive in these pieces. */
export function readByUs(pieces: readonly Buffer[]): OurReading {
  const reading: OurReading = { requests: [], rejected: false, ends: [] };
  const reader = new RequestReader();
  let bytes: Buffer = Buffer.alloc(0);
  let head: RequestHead | null = null;
  let body = '';
  let arrived = 0;
  let over = false;
  const take = (part: Buffer, from: number, to: number): boolean => {
    body += part.toString('latin1', from, to);
    return true;
  };
  /** Returns whether something was read. */
  const step = (): boolean => {
    if (head === null) {
      head = reader.readHead(bytes, 0, mostHeadBytes);
      const went = reader.at > 0;
      bytes = bytes.subarray(reader.at);
      if (head === null) return went && bytes.length > 0;
      if (head.fault !== null) throw new MessageFault(head.fault.detail);
    }
    if (!reader.complete) bytes = bytes.subarray(reader.readBody(bytes, 0, take));
    if (!reader.complete) return false;
    const { method, target, headers, keepAlive } = head;
    reading.ends.push(arrived - bytes.length);
    reading.requests.push({ method, target, headers, body });
    [head, body] = [null, ''];
    over = !keepAlive;
    if (over) reading.over = true;
    return true;
  };
  try {
    for (const piece of pieces) {
      arrived += piece.length;
      bytes = Buffer.concat([bytes, piece]);
      while (bytes.length > 0 && !over && step());
    }
  } catch (error) {
    if (!(error instanceof MessageFault)) throw error;
    reading.rejected = true;
    reading.fault = error.message;
  }
  return reading;
}
