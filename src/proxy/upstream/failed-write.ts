import type { Socket } from 'node:net';
import { guardedOn } from '../../http/guarded.ts';

type Written = (error?: Error | null) => void;

/**
 * Methods of a socket that carry out its writes. Every `Duplex` has them, and may override them.
 *
 * @see {@link https://nodejs.org/api/stream.html#implementing-a-writable-stream}
 */
interface Writing {
  _write(chunk: unknown, encoding: BufferEncoding, written: Written): void;
  _writev?(chunks: { chunk: unknown; encoding: BufferEncoding }[], written: Written): void;
}

/**
 * Keeps a socket open for reading when a write to it fails.
 *
 * An upstream may respond to an upload and close the connection before it has read the whole upload. The gateway's next
 * write then fails (EPIPE, ECONNRESET) while the response is still waiting to be read. Node destroys a socket at the
 * first failed write, so the client would get a 502 (RFC 9112 §9.5). To prevent that, the failure is hidden from the
 * socket: the failed write never completes, nothing more is written, and all received bytes are read.
 *
 * @param failed called at most once
 */
export function outliveFailedWrite(socket: Socket, failed: (error: NodeJS.ErrnoException) => void): void {
  const writing: Writing = socket;
  const write = writing._write.bind(socket);
  const writeSeveral = writing._writev?.bind(socket);
  // Callback of the latest write. A stream has only one write in progress at a time.
  let latest: Written = () => undefined;
  const written: Written = guardedOn(socket, (error?: Error | null) => {
    if (error === undefined || error === null) latest();
    // The write failed because the socket itself was destroyed.
    else if (socket.destroyed) latest(error);
    else failed(error);
  });
  writing._write = (chunk, encoding, done) => {
    latest = done;
    write(chunk, encoding, written);
  };
  if (writeSeveral === undefined) return;
  writing._writev = (chunks, done) => {
    latest = done;
    writeSeveral(chunks, written);
  };
}

/**
 * Returns the error of a connection that was reset although its socket reports an end, or `null`. Node 20 does so if the
 * reset comes together with the last bytes (libuv takes a hang-up for an end then). A write of nothing sends nothing,
 * but the system lets it fail. Call this before the socket's own listeners for `end`.
 *
 * Over TLS it always returns `null`.
 */
export function resetBehindEnd(socket: Socket): NodeJS.ErrnoException | null {
  socket.write('');
  return socket.errored;
}
