import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fileSender, pageHeaders } from '../http/static-page.ts';

/** Path of the operators' console on the internal listener. */
const consolePath = '/console';

/** Folder of the files that `npm run build` makes of `console/`. */
const builtFiles = new URL('../../dist/console/static/', import.meta.url);

/**
 * Plugin for the operators' console: its static files. What the console shows and changes goes through the operator API
 * with the session of the operator, so the files themselves are public. The root of the listener redirects to the console.
 */
export function consoleRoutes(app: FastifyInstance, _options: object, done: () => void): void {
  const headers = pageHeaders();
  const send = fileSender(builtFiles, headers);
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
