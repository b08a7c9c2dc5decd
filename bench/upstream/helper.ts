import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What an upstream saw of one request. */
export interface Seen {
  readonly method: string;
  readonly target: string;
  /** Names in lower case; every value, in order. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
}

/** The part of the upstream that needs a program. */
export interface Helper {
  readonly port: number;
  /** Event streams open right now. */
  streams(): number;
  close(): void;
}

const eventEveryMs = 1_000;
const tickMs = 5;

/**
 * Serves `/whoami` (what it saw) and `/events` (an endless `text/event-stream`, one event a second on each). An
 * event carries the monotonic clock of this process, which also reads the streams, in milliseconds.
 */
export async function startHelper(): Promise<Helper> {
  const streams = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    if (request.url === '/events') stream(response, streams);
    else whoami(request, response);
  });
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4_096, resolve));
  const timer = startEvents(streams);
  return {
    port: (server.address() as AddressInfo).port,
    streams: () => streams.size,
    close: () => {
      clearInterval(timer);
      server.close();
      server.closeAllConnections();
    },
  };
}

function whoami(request: IncomingMessage, response: ServerResponse): void {
  const headers: Record<string, string[]> = {};
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    (headers[(request.rawHeaders[i] ?? '').toLowerCase()] ??= []).push(request.rawHeaders[i + 1] ?? '');
  }
  const seen: Seen = { method: request.method ?? '', target: request.url ?? '', headers };
  request.resume().on('end', () => {
    const body = JSON.stringify(seen);
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  });
}

function stream(response: ServerResponse, streams: Set<ServerResponse>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.flushHeaders();
  streams.add(response);
  response.on('close', () => streams.delete(response));
}

/** Goes round the streams a few at a time: events that all leave at once would measure a queue of their own. */
function startEvents(streams: Set<ServerResponse>): NodeJS.Timeout {
  let order: ServerResponse[] = [];
  let next = 0;
  let owed = 0;
  return setInterval(() => {
    owed += (streams.size * tickMs) / eventEveryMs;
    for (; owed >= 1; owed -= 1) {
      if (next >= order.length) {
        order = [...streams];
        next = 0;
      }
      const response = order[next++];
      if (response?.writable === true) response.write(`data: ${performance.now()}\n\n`);
    }
  }, tickMs);
}
