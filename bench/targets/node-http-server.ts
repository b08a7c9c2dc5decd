/** A bare node:http server that responds like the upstream, by itself. A program of its own; `PORT` says where. */
import { createServer } from 'node:http';
import { bodySizes, jsonOf } from '../upstream/bodies.ts';
import { EventStreams } from '../upstream/event-streams.ts';

const small = Buffer.from(jsonOf(bodySizes['100']));
const bodies = new Map(
  Object.entries(bodySizes).map(([name, size]) => [`/bytes/${name}`, Buffer.from(jsonOf(size))]),
);
const streams = new EventStreams();

const server = createServer((request, response) => {
  const { url = '' } = request;
  if (url === '/events') return streams.start(response);
  const body = bodies.get(url) ?? small;
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
});
server.keepAliveTimeout = 0;
server.listen({ host: '127.0.0.1', port: Number(process.env['PORT']), backlog: 4_096 });
