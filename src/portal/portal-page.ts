import type { FastifyInstance } from 'fastify';
import type { PortalConfig } from '../config.ts';
import { ProblemError } from '../domain/problem.ts';
import { notFound } from '../http/not-found.ts';
import { staticFile, type StaticFile } from '../http/static-files.ts';
import { fileHandler, fileSender, pageHeaders } from '../http/static-page.ts';
import { brandStyle } from './brand.ts';

/** Folder of the files that `npm run build` makes of the portal's page. */
const builtFiles = new URL('../../dist/portal/static/', import.meta.url);

/** A picture may be a document with scripts (SVG). Opened by itself it may load and run nothing. */
const logoPolicy = "default-src 'none'; sandbox; frame-ancestors 'none'";

export interface PortalPageOptions {
  readonly portal: PortalConfig;
  /** Folder of the page's files; usually the built ones. */
  readonly files?: URL;
}

/**
 * Plugin for the portal's page: its static files, and what the configuration adds to them. All of it is public. All
 * addresses are relative, so that a proxy may put the page under a prefix, which it removes.
 */
export function portalPage(app: FastifyInstance, options: PortalPageOptions, done: () => void): void {
  const { portal, files = builtFiles } = options;
  const headers = pageHeaders(portal.frameAncestors);
  const send = fileSender(files, headers);
  const { name, links, logo } = portal;
  const style = (): StaticFile =>
    staticFile('brand.css', 'text/css; charset=utf-8', brandStyle(portal.accent));
  const picture = (): StaticFile => {
    if (logo === null) throw new ProblemError(notFound);
    return staticFile('logo', logo.type, Buffer.from(logo.base64, 'base64'));
  };
  const logoHeaders = { ...headers, 'content-security-policy': logoPolicy };
  const brand = (): StaticFile =>
    staticFile(
      'brand',
      'application/json; charset=utf-8',
      JSON.stringify({ name, links, has_logo: logo !== null }),
    );

  app.get('/', (request, reply) => send('index.html', request, reply));
  app.get('/brand.css', fileHandler(style, headers));
  app.get('/logo', fileHandler(picture, logoHeaders));
  app.get('/api/brand', fileHandler(brand, { 'x-content-type-options': 'nosniff' }));
  app.get<{ Params: { name: string } }>('/:name', (request, reply) =>
    send(request.params.name, request, reply),
  );
  done();
}
