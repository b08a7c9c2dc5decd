import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from '../domain/problem.ts';
import { notFound } from './not-found.ts';
import { readStaticFiles, type StaticFile } from './static-files.ts';

/** Headers of a document that is served to browsers. */
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

/** Makes the handler that sends one file. @param make makes the file, on the first request */
export function fileHandler(
  make: () => StaticFile,
  headers: PageHeaders,
): (request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  let file: StaticFile | undefined;
  return (request, reply) => sendFile((file ??= make()), headers, request, reply);
}

/** Sends a file, compressed if the client prefers that, or a 304 if the client has it already. */
function sendFile(
  { type, cacheControl, plain, gzipped }: StaticFile,
  headers: PageHeaders,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const isGzip = prefersGzip(request.headers['accept-encoding']);
  const { bytes, etag } = isGzip ? gzipped : plain;
  reply.headers({ ...headers, etag, 'cache-control': cacheControl, vary: 'Accept-Encoding' });
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
  if (isGzip) reply.header('content-encoding', 'gzip');
  return reply.type(type).send(bytes);
}

/** Whether a client has the file already (`If-None-Match`, RFC 9110 §13.1.2). */
function isKnown(tags: string | undefined, etag: string): boolean {
  return itemsOf(tags).some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag);
}

/** Whether `Accept-Encoding` has gzip, and no higher weight for what is not compressed (RFC 9110 §12.5.3). */
function prefersGzip(codings: string | string[] | undefined): boolean {
  const weights = new Map(
    itemsOf(codings?.toString()).map((item) => {
      const [coding = '', weight = 'q=1'] = item.toLowerCase().split(';', 2);
      return [coding.trim(), Number(/^\s*q=([01](?:\.\d{0,3})?)$/.exec(weight)?.[1] ?? 0)];
    }),
  );
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0;
  return gzip > 0 && gzip >= (weights.get('identity') ?? 0);
}

/** Most characters of a list that strangers send. Without a longer one, a file is sent whole and uncompressed. */
const mostCharacters = 1_024;

/** Returns the items of a list in a header; none if the list is too long to be worth reading. */
function itemsOf(list = ''): string[] {
  // A regular expression for blanks around commas would read a long row of blanks again from each of them.
  return list.length > mostCharacters ? [] : list.split(',').map((item) => item.trim());
}
