import type { Socket } from 'node:net';

/** Waits for a whole response. @returns its status, `–` if there is none, and whether it is the last of its connection */
export function wholeResponse(
  socket: Socket,
): Promise<{ readonly status: string; readonly isLast: boolean }> {
  return new Promise((resolve) => {
    let text = '';
    const look = (isClosed: boolean): void => {
      const end = text.indexOf('\r\n\r\n');
      const head = text.slice(0, Math.max(end, 0));
      const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
      if (!isClosed && (end === -1 || text.length < end + 4 + length)) return;
      socket.off('data', take).off('close', ended);
      const status = /^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? '–';
      resolve({ status, isLast: isClosed || /^connection: *close/im.test(head) });
    };
    const take = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      look(false);
    };
    const ended = (): void => look(true);
    socket.on('data', take).on('close', ended);
  });
}
