import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EventStreams } from './event-streams.ts';

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

/**
 * Serves `/whoami` (what it saw) and `/events` (see {@link EventStreams}).
 */
export async function startHelper(): Promise<Helper> {
  const streams = new EventStreams();
  const server = createServer((request, response) => {
    if (request.url === '/events') streams.start(response);
    else whoami(request, response);
  });
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4_096, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    streams: () => streams.count,
    close: () => {
      streams.close();
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
