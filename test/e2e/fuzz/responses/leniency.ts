import type { Client } from '../options.ts';
import { valuesOf } from '../strict-head.ts';
import type { StrictResponse } from '../strict.ts';

/**
 * The bytes of a response as a client of the gateway's takes them: with undici, what it is known to accept beyond
 * RFC 9112 is put right (docs/upstreams.md lists it), and everything else is held to the letter, as with our own client.
 */
export function asTakenBy(client: Client, bytes: string): string {
  if (client === 'native') return bytes;
  let taken = '';
  for (let at = 0; ;) {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end === -1) return taken + bytes.slice(at);
    const head = forgiven(bytes.slice(at, end));
    taken += `${head}\r\n\r\n`;
    at = end + 4;
    // An interim response has another head behind it.
    if (!/^[\r\n]*HTTP\/1\.[01] 1/.test(head)) return taken + bytes.slice(at);
  }
}

/** Bare line ends before the status line, control characters in the reason, and `Transfer-Encoding: chunked` in more than one line. */
function forgiven(head: string): string {
  const [line = '', ...fields] = head.replace(/^[\r\n]*/, '').split('\r\n');
  const reason = line.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g, ' '); // eslint-disable-line no-control-regex
  let chunked = false;
  const kept = fields.filter((field) => {
    const again = /^transfer-encoding:[ \t]*chunked[ \t]*$/i.test(field);
    const repeated = again && chunked;
    chunked ||= again;
    return !repeated;
  });
  return [/^HTTP\/1\.[01] \d{3} /.test(line) ? reason : line, ...kept].join('\r\n');
}

/** Whether a client of the gateway's rejects a response that is sound: the other half of what undici does differently. */
export function isRejectedBy(client: Client, { status, fields }: StrictResponse, bytes: string): boolean {
  if (client === 'native') return false;
  const bodyless = status === 204 || status === 304;
  if (bodyless && valuesOf(fields, 'content-length').some((each) => Number(each) > 0)) return true;
  const extended = /\n[\da-f]+[ \t]*;(?!\w[\w;=-]*\r\n)/i.test(bytes);
  return extended || /\n(?:transfer-encoding:[^\r]*[ \t]|content-length:[^\r]*\t *)\r/i.test(bytes);
}
