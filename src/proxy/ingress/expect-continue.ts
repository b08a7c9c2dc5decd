import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';

/** Requests whose client waits to be told before it sends its body (RFC 9110 §10.1.1). */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * Makes `server` hold back `100 Continue` until somebody wants the body: a refusal then costs no body at all. Node
 * ends the connection after one, since the client may still send its body or leave it, and nobody could tell which.
 * Unknown expectations are routed like any request, to be refused with a body that says why.
 */
export function holdContinue(server: Server, route: RequestListener): void {
  server.on('checkContinue', (request, response) => {
    waiting.set(request, response);
    route(request, response);
  });
  server.on('checkExpectation', route);
}

/** Tells the client to send its body, if it waits for that. To be called by whoever is about to read it. */
export function sendContinue(request: IncomingMessage): void {
  const response = waiting.get(request);
  if (response === undefined) return;
  waiting.delete(request);
  if (!response.headersSent) response.writeContinue();
}
