import type { Socket } from 'node:net';
import { latin1, parseFieldLines } from './fields.ts';
import { MessageFault } from './message-fault.ts';

/**
 * Takes part of a body: the bytes of `bytes` from offset `from` up to, but not including, `to`. Returns `false` if no
 * more is wanted now.
 */
export type TakeBytes = (bytes: Buffer, from: number, to: number) => boolean;

/** Maximum number of bytes in the chunk extensions and trailers of one body. */
const mostOverheadBytes = 16 * 1024;
/**
 * Matches a chunk size and any chunk extensions. JavaScript represents a size of up to 13 hexadecimal digits exactly,
 * and any number of zeros may precede them.
 */
const sizeLine = /^(?=[0-9a-f])(0*(?:[1-9a-f][0-9a-f]{0,12})?)(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?$/i;
/** Matches at most 13 digits in all, then each extension as RFC 9112 §7.1.1 has it, without white space. */
const strictSizeLine =
  /^([0-9a-f]{1,13})(?:;[\w!#$%&'*+.^`|~-]+(?:=(?:[\w!#$%&'*+.^`|~-]+|"(?:[\t\x20\x21\x23-\x5b\x5d-\x7e]|\\[\t\x20-\x7e])*"))?)*$/i;

/** Value of each byte as a hexadecimal digit; `NaN` for others. */
const digits = Float64Array.from({ length: 256 }, (_, byte) =>
  Number.parseInt(String.fromCharCode(byte), 16),
);

/** Maximum number of bytes to copy for a single write. */
const mostCopiedBytes = 4 * 1024;

/**
 * Writes bytes as one chunk (RFC 9112 §7.1). `bytes` must not be empty, because an empty chunk would end the body. A
 * chunk of at most {@link mostCopiedBytes} is copied, and written in one piece.
 *
 * @param isLent whether the bytes may change once this call has returned, so that they are copied in any case
 */
export function writeChunk(socket: Socket, bytes: Buffer, isLent: boolean): void {
  if (bytes.length <= mostCopiedBytes) {
    socket.write(`${bytes.length.toString(16)}\r\n${latin1(bytes, 0, bytes.length)}\r\n`, 'latin1');
    return;
  }
  socket.cork();
  socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1');
  socket.write(isLent ? Buffer.from(bytes) : bytes);
  socket.write('\r\n', 'latin1');
  socket.uncork();
}

/**
 * Reads a chunked body (RFC 9112 §7.1) strictly: every line must end with CRLF, and every chunk must have its stated
 * size.
 */
export class ChunkedBody {
  /** Whether the last chunk and the trailers have been read. */
  over = false;
  /** Flat list of names and values, complete once {@link over} is set. */
  trailers: string[] = [];
  /** Number of chunks so far. Small chunks take much longer to read than the same number of bytes in large ones. */
  chunks = 0;
  #reading: 'size' | 'data' | 'data-end' | 'trailers' = 'size';
  #left = 0;
  #line = '';
  #overhead = 0;
  #trailerLines = '';
  readonly #sizeLine: RegExp;

  /** @param strict whether to reject chunk extensions that some parsers do not understand */
  constructor(strict = false) {
    this.#sizeLine = strict ? strictSizeLine : sizeLine;
  }

  /**
   * Reads the next bytes, from offset `from` up to, but not including, `to`. The contents of small chunks are moved
   * together within `bytes`, so that they are taken at once: each alone could take a write.
   *
   * @returns the offset after the last byte that was read: the last of the body, or of what was wanted, or `to`
   * @throws MessageFault if the bytes violate the format
   */
  feed(bytes: Buffer, from: number, to: number, take: TakeBytes): number {
    let at = from;
    // Contents that have been read and not been taken yet.
    let begun = from;
    let end = from;
    let isWanted = true;
    while (at < to && !this.over && isWanted) {
      if (this.#reading !== 'data') {
        at = this.#readLine(bytes, at, to);
        continue;
      }
      const length = Math.min(to - at, this.#left);
      this.#left -= length;
      if (this.#left === 0) this.#reading = 'data-end';
      if (end > begun && length <= mostCopiedBytes) {
        if (length === 1) bytes[end] = bytes[at] as number;
        else bytes.copyWithin(end, at, at + length);
      } else {
        if (end > begun) isWanted = take(bytes, begun, end);
        begun = end = at;
      }
      end += length;
      at += length;
    }
    if (end > begun) take(bytes, begun, end);
    return at;
  }

  #readLine(bytes: Buffer, from: number, to: number): number {
    const plainEnd = this.#readPlainLine(bytes, from, to);
    if (plainEnd !== -1) return plainEnd;
    const feed = bytes.indexOf(0x0a, from);
    const end = feed === -1 || feed >= to ? to : feed + 1;
    this.#line += latin1(bytes, from, end);
    if (this.#reading !== 'data-end') this.#overhead += end - from;
    const most = this.#reading === 'data-end' ? 2 : mostOverheadBytes;
    if (this.#line.length > most) throw new MessageFault('chunks that do not end where they should');
    if (!this.#line.endsWith('\n')) return end;
    if (!this.#line.endsWith('\r\n')) throw new MessageFault('a line that ends without CR');
    const line = this.#line.slice(0, -2);
    this.#line = '';
    this.#take(line);
    return end;
  }

  /** Reads a line quickly that has arrived whole and is only a size, or the end of a chunk. Returns -1 for others. */
  #readPlainLine(bytes: Buffer, from: number, to: number): number {
    const isSize = this.#reading === 'size';
    let [at, size] = [from, 0];
    for (let digit; isSize && at < from + 13 && (digit = digits[bytes[at] as number] as number) >= 0; at += 1)
      size = 16 * size + digit;
    const isPlain = at + 1 < to && bytes[at] === 0x0d && bytes[at + 1] === 0x0a && isSize === size > 0;
    if (!isPlain || this.#reading === 'trailers' || this.#line !== '') return -1;
    this.#left = size;
    if (isSize) this.chunks += 1;
    this.#reading = isSize ? 'data' : 'size';
    return at + 2;
  }

  #take(line: string): void {
    if (this.#reading === 'data-end') {
      if (line !== '') throw new MessageFault('a chunk longer than its size');
      this.#reading = 'size';
    } else if (this.#reading === 'size') {
      const size = this.#sizeLine.exec(line)?.[1];
      if (size === undefined) throw new MessageFault('a chunk without a size');
      this.#left = Number.parseInt(size, 16);
      this.chunks += 1;
      this.#reading = this.#left === 0 ? 'trailers' : 'data';
      // A plain size line does not count as overhead, because a long body may have any number of chunks.
      this.#overhead -= Math.min(line.length + 2, 20);
      if (this.#overhead > mostOverheadBytes) throw new MessageFault('too many chunk extensions');
    } else if (line !== '') {
      this.#trailerLines += `${line}\r\n`;
      if (this.#overhead > mostOverheadBytes) throw new MessageFault('too many trailers');
    } else {
      this.trailers = parseFieldLines(this.#trailerLines);
      this.over = true;
    }
  }
}
