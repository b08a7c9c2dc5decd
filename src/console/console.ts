import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from '../domain/problem.ts';
import { notFound } from '../http/not-found.ts';
import { builtFiles, readStaticFiles, type StaticFile } from './static-files.ts';

/** Path of the operators' console on the internal listener. */
const consolePath = '/console';

/**
 * The console may load only its own files, talk only to this listener, and be in no other page's frame. It has no
 * exceptions for inline scripts or styles.
 */
const policy = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'img-src', 'connect-src'].map((directive) => `${directive} 'self'`),
  ...['base-uri', 'form-action', 'frame-ancestors'].map((directive) => `${directive} 'none'`),
].join('; ');

const headers = {
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * Plugin for the operators' console: its static files. What the console shows and changes goes through the operator API
 * with the session of the operator, so the files themselves are public. The root of the listener redirects to the console.
 */
export function consoleRoutes(app: FastifyInstance, _options: object, done: () => void): void {
  let files: ReadonlyMap<string, StaticFile> | undefined;
  const send = (name: string, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    // Most gateways never serve the console, so its files are read on the first request.
    files ??= readStaticFiles(builtFiles);
    const file = files.get(name);
    if (file === undefined) throw new ProblemError(notFound);
    reply.headers({
      ...headers,
      etag: file.etag,
      'cache-control': file.cacheControl,
      vary: 'Accept-Encoding',
    });
    if (isKnown(request.headers['if-none-match'], file)) return reply.code(304).send();
    reply.type(file.type);
    return acceptsGzip(request.headers['accept-encoding'])
      ? reply.header('content-encoding', 'gzip').send(file.gzipped)
      : reply.send(file.bytes);
  };
  // Relative, like all addresses of the console, so that it works behind a proxy that adds a prefix.
  const redirect = (_request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    reply.headers(headers).redirect('console/');
  app.get('/', redirect);
  app.get(consolePath, redirect);
  app.get(`${consolePath}/`, (request, reply) => send('index.html', request, reply));
  app.get<{ Params: { name: string } }>(`${consolePath}/:name`, (request, reply) =>
    send(request.params.name, request, reply),
  );
  done();
}

/** Whether a browser has the file already (`If-None-Match`, RFC 9110 §13.1.2). */
function isKnown(tags: string | undefined, { etag }: StaticFile): boolean {
  return (tags ?? '').split(/\s*,\s*/).some((tag) => tag === '*' || tag === etag);
}

/** Whether `Accept-Encoding` has gzip with a weight above 0 (RFC 9110 §12.5.3). */
function acceptsGzip(codings: string | string[] | undefined): boolean {
  return /(?:^|,)\s*gzip\s*(?:$|,|;\s*q=(?!0(?:\.0*)?\s*(?:$|,)))/i.test(String(codings));
}
