import type { Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { LimitsConfig } from '../config.ts';
import { problemStatus, type Problem, type ProblemCode } from '../domain/problem.ts';
import { problemBody, problemContentType } from './problem-body.ts';
import { routerOptions } from './router-options.ts';

/** An upper bound for a whole request; silence in the middle of one is bounded far lower, by `bodyIdleMs`. */
const requestTimeoutMs = 3_600_000;

type ServerLimits = Pick<LimitsConfig, 'maxHeaderBytes' | 'headTimeoutMs' | 'maxConnections'>;

/** Options for `Fastify()`, whose own server never listens: the limits of connections are set on the one that does. */
export function fastifyOptions(limits: Pick<LimitsConfig, 'managementBodyBytes'>) {
  return { bodyLimit: limits.managementBodyBytes, routerOptions };
}

/** Options for a listening server; with inbound TLS they go beside certificate and key. What Node leaves unlimited is limited. */
export function nodeServerOptions(limits: ServerLimits): ServerOptions {
  return {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, limits.headTimeoutMs),
    insecureHTTPParser: false,
    // A request without Host is rejected with the others that are malformed, and with a body that says so.
    requireHostHeader: false,
    noDelay: true,
  };
}

/** What has to be set on the listening server itself. */
export function hardenServer(server: Server, limits: ServerLimits): void {
  // By default Node keeps 1,000 headers and drops the others silently, Authorization and Content-Length among them.
  server.maxHeadersCount = 0;
  server.maxConnections = limits.maxConnections;
  // Node takes its own error listener away before an upgrade: a reset in that moment would end the process.
  server.on('connection', (socket) => socket.on('error', ignore));
}

function ignore(): void {
  /* The connection's end is seen by what uses it. */
}

/** What Node tells about a request that its parser rejects. */
export interface ClientError extends Error {
  readonly code?: string;
  /** The latest bytes of the connection, a Buffer, where it was they that were rejected. */
  readonly rawPacket?: unknown;
}

/** Responds to what Node's parser rejects: it never becomes a request. */
export function respondToClientError(error: ClientError, socket: Socket, requestId: string): void {
  const { code } = error;
  const { _httpMessage: busy, parser } = socket as Parsed;
  // A response that is under way must not be mixed with another one, nor taken for the response to this; and a request
  // whose response was out before its body went wrong gets no second one.
  const responded = parser?.incoming?.complete === false;
  if (!socket.writable || busy || responded || code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [problemCode, detail] = clientErrors[code ?? ''] ?? [
    'invalid_request',
    'The request is not valid HTTP/1.1.',
  ];
  socket.end(rawProblem({ code: problemCode, detail }, requestId, isHead(error, socket)));
  socket.destroySoon();
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
  readonly _httpMessage?: unknown;
  readonly parser?: { readonly incoming: { readonly complete: boolean } | null } | null;
}

const clientErrors: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The request headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['payload_too_large', 'The chunk extensions of the body are too large.'],
};

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
};

function rawProblem(problem: Problem, requestId: string, toHead: boolean): string {
  const status = problemStatus(problem.code);
  const body = problemBody(problem, '', requestId);
  return (
    `HTTP/1.1 ${status} ${reasons[status] ?? 'Error'}\r\n` +
    `Content-Type: ${problemContentType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
    `X-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${toHead ? '' : body}`
  );
}
