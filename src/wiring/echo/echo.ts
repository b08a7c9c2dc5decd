import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HeaderNames } from '../../domain/header-names.ts';
import { http } from '../../http1/node-http.ts';

/** A listening echo upstream. */
export interface Echo {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  close(): Promise<void>;
}

const shownBodyBytes = 16 * 1024;

/**
 * Starts an upstream that echoes each request in its response, for trying out the gateway. It is an ordinary server on
 * a free loopback port, and trusts the gateway's headers like a real upstream.
 */
export async function startEcho(headers: HeaderNames): Promise<Echo> {
  const server = http.createServer((request, response) => {
    collect(request).then(
      (body) => respond(request, response, body, headers),
      () => response.destroy(),
    );
  });
  server.keepAliveTimeout = 60_000;
  await listening(server);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function respond(request: IncomingMessage, response: ServerResponse, body: Body, names: HeaderNames): void {
  const { method = '', url = '', headers } = request;
  const seen = (name: string): string | undefined => request.headersDistinct[name.toLowerCase()]?.join(', ');
  const text = JSON.stringify(
    {
      message: `Your service would serve this request for tenant ${seen(names.resolvedTenant) ?? '(none)'}.`,
      resolved_tenant: seen(names.resolvedTenant),
      resolved_external_id: seen(names.resolvedExternalId),
      parent_tenant: seen(names.parentTenant),
      parent_external_id: seen(names.parentExternalId),
      caller_tenant: seen(names.callerTenant),
      caller_key: seen(names.callerKey),
      caller_scopes: seen(names.callerScopes),
      request: { method, path: url, headers, body: show(body) },
    },
    null,
    2,
  );
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
  response.end(method === 'HEAD' ? undefined : `${text}\n`);
}

interface Body {
  readonly start: Buffer;
  readonly bytes: number;
}

/** Reads a whole body but keeps only its beginning. */
async function collect(request: IncomingMessage): Promise<Body> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (keptBytes >= shownBodyBytes) continue;
    kept.push(chunk);
    keptBytes += chunk.length;
  }
  return { start: Buffer.concat(kept).subarray(0, shownBodyBytes), bytes };
}

function show({ start, bytes }: Body): unknown {
  if (bytes === 0) return null;
  const text = start.toString('utf8');
  if (bytes > start.length) return `${bytes} bytes`;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text.includes('\uFFFD') ? `${bytes} bytes` : text;
  }
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve());
  });
}
