import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { discardInput } from '../http/hang-up.ts';

/** Of more requests than this on one connection the others get no response, and the connection ends before them. */
const mostWaiting = 1000;

/** Requests of a connection that wait for their turn: how many, and the response to the last. */
interface Waiting {
  count: number;
  last: ServerResponse;
}

const waitingOn = new WeakMap<Socket, Waiting>();

/**
 * Serves a pipelined request when those before it have been responded to (RFC 9112 §9.3.2): a DELETE that was sent behind
 * a PUT must not overtake it. If the connection ends before, the request is not served at all.
 */
export function waitForTurn(
  request: IncomingMessage,
  response: ServerResponse,
  serve: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  const { socket } = request;
  // The gateway has closed its direction with the response before. Node parses the rest of a packet all the same: such a
  // request must not be acted on, since its client could never learn that it was.
  if (!socket.writable) return;
  if (response.socket !== null) return serve(request, response);
  const waiting = waitingOn.get(socket) ?? { count: 0, last: response };
  waitingOn.set(socket, waiting);
  if (waiting.count === mostWaiting) {
    waiting.last.shouldKeepAlive = false;
    return discardInput(socket);
  }
  waiting.count += 1;
  waiting.last = response;
  // Node emits this while it ends the response before. It goes on with this response in the same tick.
  response.once('socket', () =>
    process.nextTick(() => {
      waiting.count -= 1;
      if (response.socket !== null && socket.writable) serve(request, response);
    }),
  );
}

/** The response that is being written to a connection. Node keeps it here; there is no other way to find it. */
export function responseOn(socket: Socket): ServerResponse | undefined {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}
