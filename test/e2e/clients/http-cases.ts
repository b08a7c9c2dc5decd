/** What each HTTP client does against the gateway, and what it has to come to. */
import { createHash } from 'node:crypto';
import { unknownKey } from '../../../bench/lib/tenants.ts';
import type { Scope } from '../../support/servers.ts';
import { tcpRelay } from '../../support/tcp-relay.ts';
import { bytesOf, type HttpClient, type Request, type Response } from './http-client.ts';
import { refusal, type Seen } from './upstream.ts';
import type { Origin } from './world.ts';

/** Where a case runs. */
export interface Where {
  readonly client: HttpClient;
  readonly clientName: string;
  readonly origin: Origin;
  readonly scope: Scope;
}

export interface Case<At> {
  readonly id: string;
  readonly title: string;
  /** Throws an error that says what is wrong. */
  run(where: At): Promise<void>;
}

const mebibyte = 1024 * 1024;
/** More than the buffers between client and gateway hold, so that a client that is not answered early is seen. */
const largeBytes = 16 * mebibyte;
/** A race that is lost now and then is to be seen. */
const uploads = 2;

export const httpCases: readonly Case<Where>[] = [
  {
    id: 'get',
    title: 'GET',
    async run(where) {
      const target = '/echo/a%2Fb?q=%C5%81%C3%B3d%C5%BA&q=2';
      const forged = { 'X-Service-Resolved-Tenant': '00000000-0000-4000-8000-000000000000' };
      const seen = seenBy(await one(where, 'GET', target, { headers: forged }), where.origin.parentId);
      is(seen.target, target, 'target');
      is(seen.headers['authorization'], undefined, 'the key at the service');
    },
  },
  {
    id: 'post',
    title: 'POST JSON, acting',
    async run(where) {
      const text = JSON.stringify({ to: 'Łódź', weight: 1.5 });
      const headers = { 'Content-Type': 'application/json', 'X-Service-Acting-Tenant': 'ext:ada' };
      const response = await one(where, 'POST', '/echo', { headers, body: { text } });
      const seen = seenBy(response, where.origin.subAccountId);
      is(seen.headers['content-type']?.join(), 'application/json', 'content type');
      arrived(seen, { text });
    },
  },
  {
    id: 'chunked',
    title: 'upload in chunks',
    async run(where) {
      const body = { chunked: mebibyte };
      const response = await one(where, 'POST', '/echo', { headers: asAda, body });
      const seen = seenBy(response, where.origin.subAccountId);
      is(seen.headers['content-length'], undefined, 'length at the service');
      arrived(seen, body);
    },
  },
  refused(
    'refused-key',
    '16 MiB, unknown key: 401',
    '/echo',
    401,
    { Authorization: `Bearer ${unknownKey()}` },
    (body) => is(codeOf(body), 'invalid_api_key', 'code'),
  ),
  refused(
    'refused-size',
    '16 MiB to management: 413',
    '/v1/sub-accounts',
    413,
    { 'Content-Type': 'application/json' },
    (body) => is(codeOf(body), 'payload_too_large', 'code'),
  ),
  refused(
    'refused-upstream',
    '16 MiB, 413 of the service',
    '/refuse',
    413,
    { 'X-Service-Acting-Tenant': 'self' },
    (body) => is(body.toString(), refusal, 'body'),
  ),
  {
    id: 'keep-alive',
    title: 'one connection, 6 requests',
    async run(where) {
      const relay = await tcpRelay(where.scope, where.origin.port);
      const through = { ...where.origin, port: relay.port };
      const read = requestTo(through, 'GET', '/echo');
      const write = requestTo(through, 'POST', '/echo', {
        headers: asAda,
        body: { text: 'x'.repeat(2_000) },
      });
      const responses = await where.client.send([read, write, read, write, read, write]);
      const { parentId, subAccountId } = where.origin;
      responses.forEach((response, i) => seenBy(response, i % 2 === 0 ? parentId : subAccountId));
      is(relay.connections(), 1, 'connections');
    },
  },
  {
    id: 'head',
    title: 'HEAD',
    async run(where) {
      const response = await one(where, 'HEAD', '/echo');
      is(response.status, 200, 'status');
      is(response.body.length, 0, 'bytes of body');
      is(
        Number(response.headers.get('content-length')) > 0,
        true,
        'has the length of the body it would have',
      );
    },
  },
  {
    id: 'no-content',
    title: '204, then GET',
    async run({ client, origin }) {
      const requests = [requestTo(origin, 'GET', '/no-content'), requestTo(origin, 'GET', '/echo')];
      const [nothing, next] = await client.send(requests);
      is(nothing?.status, 204, 'status');
      is(nothing?.body.length, 0, 'bytes of body');
      seenBy(next, origin.parentId);
    },
  },
  {
    id: 'management',
    title: 'create a sub-account',
    async run(where) {
      const external = where.clientName.replaceAll(/[^A-Za-z0-9]+/g, '-');
      const text = JSON.stringify({ name: where.clientName, external_id: external });
      const headers = { 'Content-Type': 'application/json' };
      const response = await one(where, 'POST', '/v1/sub-accounts', { headers, body: { text } });
      is(response.status, 201, `status, with ${response.body.toString()}`);
      is(
        (JSON.parse(response.body.toString()) as { external_id?: string }).external_id,
        external,
        'external_id',
      );
    },
  },
];

const asAda = { 'X-Service-Acting-Tenant': 'ext:ada' };

/** A large upload that is answered before it is over: the client reads the answer, not a broken connection. */
function refused(
  id: string,
  title: string,
  target: string,
  status: number,
  headers: Readonly<Record<string, string>>,
  check: (body: Buffer) => void,
): Case<Where> {
  return {
    id,
    title,
    async run(where) {
      for (let i = 0; i < uploads; i++) {
        const response = await one(where, 'POST', target, { headers, body: { sized: largeBytes } });
        is(response.status, status, 'status');
        check(response.body);
      }
    },
  };
}

type More = Pick<Request, 'headers' | 'body'>;

async function one(
  { client, origin }: Where,
  method: string,
  target: string,
  more: More = {},
): Promise<Response> {
  const [response] = await client.send([requestTo(origin, method, target, more)]);
  if (response === undefined) throw new Error('no response');
  return response;
}

function requestTo(
  { transport, port, key }: Origin,
  method: string,
  target: string,
  more: More = {},
): Request {
  const headers = { Authorization: `Bearer ${key}`, ...more.headers };
  return { method, url: `${transport}://127.0.0.1:${port}${target}`, ...more, headers };
}

/** What the service saw of a request that had to reach it for this tenant. */
function seenBy(response: Response | undefined, tenant: string): Seen {
  is(response?.status, 200, `status, with ${response?.body.toString().slice(0, 200)}`);
  const seen = JSON.parse(response?.body.toString() ?? '') as Seen;
  is(seen.headers['x-service-resolved-tenant']?.join(), tenant, 'tenant at the service');
  is(response?.headers.get('x-service-resolved-tenant'), tenant, 'tenant at the client');
  return seen;
}

function arrived({ bytes, sha256 }: Seen, body: NonNullable<Request['body']>): void {
  const sent = bytesOf(body);
  is(bytes, sent.length, 'bytes at the service');
  is(sha256, createHash('sha256').update(sent).digest('hex'), 'SHA-256 of the body');
}

function codeOf(problem: Buffer): unknown {
  return (JSON.parse(problem.toString()) as { code?: unknown }).code;
}

/** @throws Error that says what was wanted and what it is */
export function is(value: unknown, wanted: unknown, what: string): void {
  if (value !== wanted) throw new Error(`${what}: ${String(value)} in place of ${String(wanted)}`);
}
