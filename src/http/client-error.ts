import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { problemStatus, type Problem, type ProblemCode } from '../domain/problem.ts';
import { guardedOn } from './guarded.ts';
import { discardInput, hangUp } from './hang-up.ts';
import { problemBody, problemContentType, type ProblemContext } from './problem-body.ts';

/** Error that Node raises if its parser rejects a request. */
export interface ClientError extends Error {
  readonly code?: string;
  /** Buffer with the last bytes received on the connection, if the parser rejected them. */
  readonly rawPacket?: unknown;
}

/** Context of the problem body. It has no path (`instance`), because the rejected bytes never became a request. */
type Said = Omit<ProblemContext, 'instance'>;

/** Connections on which an error response is waiting for the responses to earlier requests. */
const waiting = new WeakSet<Socket>();

/**
 * Returns the function that responds if Node's parser rejects what a client sent. Responses to earlier requests on the
 * connection are sent first; the error response is the last one.
 */
export function clientErrors(
  newRequestId: (request: IncomingMessage) => string,
  typeBase: string,
): (error: ClientError, socket: Socket) => void {
  return (error, socket) => respond(error, socket, { requestId: newRequestId(noRequest), typeBase });
}

/** Stands in for the missing request, so that the response can be given a request id. */
const noRequest = { rawHeaders: [], socket: {} } as unknown as IncomingMessage;

function respond(error: ClientError, socket: Socket, said: Said): void {
  const { _httpMessage: busy, parser } = socket as Parsed;
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  if (busy) return respondBehind(busy, error, socket, said);
  // If the malformed bytes are the body of a request that has already been answered, no second response is sent.
  if (parser?.incoming?.complete !== false) socket.write(rawResponse(error, said, isHead(error, socket)));
  hangUp(socket);
}

function respondBehind(busy: ServerResponse, error: ClientError, socket: Socket, said: Said): void {
  if (waiting.has(socket)) return;
  const inBody = !busy.req.complete;
  // No problem can be sent if the client has left, or if the response to the rejected request has begun.
  if (error.code === 'HPE_INVALID_EOF_STATE' || (inBody && busy.headersSent)) return void socket.destroy();
  const respond = (): void => {
    const toHead = inBody && busy.req.method === 'HEAD';
    if (socket.writable) socket.write(rawResponse(error, said, toHead));
    hangUp(socket);
  };
  if (inBody) {
    // `close` tells the code that serves the request that its response can no longer be sent.
    busy.detachSocket(socket);
    busy.emit('close');
    return respond();
  }
  waiting.add(socket);
  discardInput(socket);
  // HPE_CLOSED_CONNECTION: more bytes followed a request with `Connection: close`, so no further response may be sent.
  if (error.code !== 'HPE_CLOSED_CONNECTION') busy.once('finish', guardedOn(socket, respond));
}

function rawResponse(error: ClientError, said: Said, toHead: boolean): string {
  const [code, detail] = reasonsOf[error.code ?? ''] ?? unreadable;
  return rawProblem({ code, detail }, said, toHead);
}

/**
 * Whether the rejected request is a HEAD, whose response has no body (RFC 9110 §9.3.2). Only the first packet on a
 * connection is sure to begin with the method; a later packet may begin in the middle of a request.
 */
function isHead({ rawPacket }: ClientError, { bytesRead }: Socket): boolean {
  if (!Buffer.isBuffer(rawPacket) || rawPacket.length !== bytesRead) return false;
  return rawPacket.toString('latin1', 0, 5) === 'HEAD ';
}

/** Properties that Node keeps on a connection: the response in progress, and the parser with its current request. */
interface Parsed extends Socket {
  readonly _httpMessage?: ServerResponse | null;
  readonly parser?: { readonly incoming: { readonly complete: boolean } | null } | null;
}

const reasonsOf: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The request headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['payload_too_large', 'The chunk extensions of the body are too large.'],
};

const unreadable = ['invalid_request', 'The request is not valid HTTP/1.1.'] as const;

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
};

function rawProblem(problem: Problem, said: Said, toHead: boolean): string {
  const status = problemStatus(problem.code);
  const body = problemBody(problem, { instance: '', ...said });
  return (
    `HTTP/1.1 ${status} ${reasons[status] ?? 'Error'}\r\n` +
    `Content-Type: ${problemContentType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
    `X-Request-Id: ${said.requestId}\r\nConnection: close\r\n\r\n${toHead ? '' : body}`
  );
}
