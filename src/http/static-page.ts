import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from '../domain/problem.ts';
import { notFound } from './not-found.ts';
import { readStaticFiles, type StaticFile } from './static-files.ts';

/** Headers of a page that is served to browsers. */
export type PageHeaders = Readonly<Record<string, string>>;

/**
 * Headers of a page that loads only its own files and talks only to its own listener. There are no exceptions for inline
 * scripts or styles.
 *
 * @param frameAncestors origins of pages that may have it in a frame; empty: none may
 */
export function pageHeaders(frameAncestors: readonly string[] = []): PageHeaders {
  const policy = [
    "default-src 'none'",
    ...['script-src', 'style-src', 'img-src', 'connect-src'].map((directive) => `${directive} 'self'`),
    ...['base-uri', 'form-action'].map((directive) => `${directive} 'none'`),
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')}`,
  ];
  return {
    'content-security-policy': policy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    // This header cannot name origins, and some browsers would follow it instead of the policy.
    ...(frameAncestors.length === 0 && { 'x-frame-options': 'DENY' }),
  };
}

/** Sends a file of a folder to a browser. */
export type SendFile = (name: string, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

/** Makes the function that sends the files of `folder`. Any other name gets the usual 404. */
export function fileSender(folder: URL, headers: PageHeaders): SendFile {
  let files: ReadonlyMap<string, StaticFile> | undefined;
  return (name, request, reply) => {
    // Most gateways never serve a page, so its files are read on the first request.
    files ??= readStaticFiles(folder);
    const file = files.get(name);
    if (file === undefined) throw new ProblemError(notFound);
    return sendFile(file, headers, request, reply);
  };
}

/** Sends a file, compressed if the browser takes that, or a 304 if the browser has it already. */
export function sendFile(
  file: StaticFile,
  headers: PageHeaders,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
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
}

/** Whether a browser has the file already (`If-None-Match`, RFC 9110 §13.1.2). */
function isKnown(tags: string | undefined, { etag }: StaticFile): boolean {
  // A regular expression for blanks around commas would read a long row of blanks again from each of them.
  return (tags ?? '')
    .split(',')
    .map((tag) => tag.trim())
    .some((tag) => tag === '*' || tag === etag);
}

/** Whether `Accept-Encoding` has gzip with a weight above 0 (RFC 9110 §12.5.3). */
function acceptsGzip(codings: string | string[] | undefined): boolean {
  return /(?:^|,)\s*gzip\s*(?:$|,|;\s*q=(?!0(?:\.0*)?\s*(?:$|,)))/i.test(String(codings));
}
