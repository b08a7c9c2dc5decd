import { latin1 } from './fields.ts';
import { MessageFault } from './message-fault.ts';

/** Number of bytes to search first for the end of a head, because most heads end within them. */
const firstLookBytes = 2048;
const emptyLine = /\n\r?\n/g;

/** Collects the bytes of one head after another, up to the empty line that ends the head. */
export class HeadText {
  /** The part of the head that has arrived, in Latin-1; once the head is complete, up to the CRLF of its last line. */
  text = '';

  /**
   * Takes the next bytes, from offset `from` up to, but not including, `to`.
   *
   * @param mostBytes maximum number of bytes in a head, without the empty line
   * @returns the offset after the head; -1 if the head goes on
   * @throws HeadTooLong
   * @throws MessageFault if no head can come of these bytes
   */
  feed(bytes: Uint8Array, from: number, to: number, mostBytes: number): number {
    const before = this.text.length;
    let end = -1;
    for (let look = firstLookBytes; end === -1; look *= 8) {
      const upTo = Math.min(to, from + look);
      const text = latin1(bytes, from, upTo);
      this.text = before === 0 ? text : this.text.slice(0, before) + text;
      end = this.text.indexOf('\r\n\r\n', Math.max(0, before - 3));
      if (upTo === to) break;
    }
    // A head ends with CR LF CR LF, which does not count towards its size. If the head is incomplete, the last three
    // bytes so far may be the beginning of that end, so they do not count either.
    const least = end === -1 ? this.text.length - 3 : end;
    if (least > mostBytes) throw new HeadTooLong();
    if (end === -1) {
      emptyLine.lastIndex = Math.max(0, before - 2);
      if (emptyLine.test(this.text)) throw new MessageFault('a line that ends without CR');
      return -1;
    }
    this.text = this.text.slice(0, end + 2);
    return from + end + 4 - before;
  }

  /** Returns the complete head, and starts over. */
  take(): string {
    const { text } = this;
    this.text = '';
    return text;
  }
}

/** Error for a head with more bytes than its reader allows. */
export class HeadTooLong extends MessageFault {
  constructor() {
    super('too long a head');
  }
}
