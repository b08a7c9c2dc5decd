import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { problemStatus, type Problem, type ProblemCode } from '../domain/problem.ts';
import { discardInput, hangUp } from './hang-up.ts';
import { problemBody, problemContentType, type ProblemContext } from './problem-body.ts';

/** What Node tells about a request that its parser rejects. */
export interface ClientError extends Error {
  readonly code?: string;
  /** The latest bytes of the connection, a Buffer, where it was they that were rejected. */
  readonly rawPacket?: unknown;
}

/** What the response says beside what is wrong: there is no request that could name a path. */
type Said = Omit<ProblemContext, 'instance'>;

/** Connections on which the first such error waits for the responses before it. */
const waiting = new WeakSet<Socket>();

/**
 * Makes the function that responds to what Node's parser rejects: it never becomes a request. Requests before it on the
 * connection get their responses first, and the connection ends with this one.
 */
export function clientErrors(
  newRequestId: (request: IncomingMessage) => string,
  typeBase: string,
): (error: ClientError, socket: Socket) => void {
  return (error, socket) => respond(error, socket, { requestId: newRequestId(noRequest), typeBase });
}

/** Stands for a request that never became one, where an id is needed all the same. */
const noRequest = { rawHeaders: [], socket: {} } as unknown as IncomingMessage;

function respond(error: ClientError, socket: Socket, said: Said): void {
  const { _httpMessage: busy, parser } = socket as Parsed;
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  if (busy) return waitForResponse(busy, error, socket, said);
  // A request whose response was out before its body went wrong gets no second one.
  if (parser?.incoming?.complete !== false) socket.write(rawResponse(error, said, isHead(error, socket)));
  hangUp(socket);
}

function waitForResponse(busy: ServerResponse, error: ClientError, socket: Socket, said: Said): void {
  if (waiting.has(socket)) return;
  // It is the body of the very request that is being responded to, or the client has left.
  if (!busy.req.complete || error.code === 'HPE_INVALID_EOF_STATE') return void socket.destroy();
  waiting.add(socket);
  discardInput(socket);
  // Bytes behind a request that asked for the end of its connection: its response is the last one by itself.
  if (error.code === 'HPE_CLOSED_CONNECTION') return;
  const next = (): void => {
    const { _httpMessage: response } = socket as Parsed;
    if (response?.req.complete) return void response.once('finish', next);
    // What is wrong is the body of a request that waits for its turn: this is its response.
    if (response) response.detachSocket(socket);
    if (socket.writable) socket.write(rawResponse(error, said, response?.req.method === 'HEAD'));
    hangUp(socket);
  };
  busy.once('finish', next);
}

function rawResponse(error: ClientError, said: Said, toHead: boolean): string {
  const [code, detail] = reasonsOf[error.code ?? ''] ?? unreadable;
  return rawProblem({ code, detail }, said, toHead);
}

/**
 * Whether a HEAD was rejected: the response to it has no body (RFC 9110 §9.3.2). That is known only where a connection has
 * said nothing else yet: what a later packet begins with may be the middle of something.
 */
function isHead({ rawPacket }: ClientError, { bytesRead }: Socket): boolean {
  if (!Buffer.isBuffer(rawPacket) || rawPacket.length !== bytesRead) return false;
  return rawPacket.toString('latin1', 0, 5) === 'HEAD ';
}

/** What Node keeps on a connection: the response under way, and the request that is being parsed. */
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
