import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { guardedOn } from '../../http/guarded.ts';
import { hangUp } from '../../http/hang-up.ts';

/** Bytes that arrived right after the head of an upgrade request. */
const early = new WeakMap<IncomingMessage, Buffer>();

/**
 * Creates a response for an upgrade request, so that the request goes through the same checks as any other request. The
 * code that carries out the upgrade takes the connection from the response ({@link takeConnection}). If there is no
 * upgrade, the connection ends after the response.
 */
export function upgradeResponse(request: IncomingMessage, socket: Socket, head: Buffer): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  const finished = (): void => hangUp(socket);
  response.once('finish', guardedOn(socket, finished));
  early.set(request, head);
  return response;
}

/**
 * Takes the connection of an upgrade request, and the bytes that have already arrived on it. `response` must not be
 * used afterwards.
 *
 * @throws Error if the response no longer has a connection
 */
export function takeConnection(response: ServerResponse): { readonly socket: Socket; readonly head: Buffer } {
  const { req, socket } = response;
  if (socket === null) throw new Error('the connection was taken already');
  response.detachSocket(socket);
  return { socket, head: early.get(req) ?? Buffer.alloc(0) };
}
