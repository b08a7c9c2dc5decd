/**
 * What most would build: Fastify, @fastify/http-proxy with its defaults, the rule in `preHandler`. A program of its
 * own; the environment says where everything is.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import httpProxy from '@fastify/http-proxy';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { Redis } from 'ioredis';
import { resolve, type Lookup, type Resolved } from './http-proxy-rule.ts';

const { UPSTREAM = '', PORT = '', FACTS = '', REDIS_URL } = process.env;
const lookup = REDIS_URL === undefined ? inMemory(FACTS) : inRedis(REDIS_URL);
const resolutions = new WeakMap<FastifyRequest, Resolved>();

const app = Fastify({ logger: false, genReqId: () => randomUUID() });
await app.register(httpProxy, {
  upstream: UPSTREAM,
  preHandler: (request, reply, done) => {
    enforce(request, reply).then((permitted) => permitted && done(), done);
  },
  replyOptions: {
    rewriteRequestHeaders: (request, headers) => {
      const resolved = resolutions.get(request as FastifyRequest);
      const kept = Object.entries(headers).filter(
        ([name]) => !name.startsWith('x-service-') && name !== 'authorization',
      );
      return {
        ...Object.fromEntries(kept),
        host: request.headers.host,
        'x-service-resolved-tenant': resolved?.resolved,
        'x-service-caller-tenant': resolved?.caller,
        'x-service-caller-key': resolved?.keyId,
        'x-service-caller-scopes': resolved?.scopes,
        'x-request-id': (request as FastifyRequest).id,
        'x-forwarded-for': (request as FastifyRequest).ip,
        'x-forwarded-proto': 'http',
        'x-forwarded-host': request.headers.host,
      };
    },
  },
});
await app.listen({ host: '127.0.0.1', port: Number(PORT), backlog: 4_096 });

/** @returns whether the request may go on; otherwise the rejection has been sent */
async function enforce(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const { authorization, 'x-service-acting-tenant': acting } = request.headers;
  const decision = await resolve(
    lookup,
    request.method,
    authorization,
    typeof acting === 'string' ? acting : undefined,
  );
  if (typeof decision === 'number') {
    reply.code(decision).send({ error: 'rejected' });
    return false;
  }
  resolutions.set(request, decision);
  reply.header('x-request-id', request.id).header('x-service-resolved-tenant', decision.resolved);
  return true;
}

function inMemory(file: string): Lookup {
  const rows = readFileSync(file, 'utf8').trim().split('\n');
  const facts = new Map(rows.map((row) => [row.slice(0, row.indexOf(' ')), row.slice(row.indexOf(' ') + 1)]));
  return (key) => facts.get(key);
}

function inRedis(url: string): Lookup {
  const redis = new Redis(url, { enableAutoPipelining: true });
  return (key) => redis.get(key);
}
