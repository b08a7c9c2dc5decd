// class: ui
import t from 'tap';
import type { CorsConfig } from '../../../src/config.ts';
import { openBrowser, withoutChromium } from '../../support/browser.ts';
import { startGateway } from '../../support/gateway.ts';
import { startUpstream } from '../../support/upstreams.ts';

/** Runs in the page: what each fetch comes to, in order. */
const script = `
  const results = [];
  for (const { path, options } of given.fetches) {
    try {
      const response = await fetch(given.gateway + path, options);
      const { status, headers } = response;
      const body = await response.json();
      const readable = ['x-request-id', 'x-service-resolved-tenant', 'x-of-the-upstream']
        .filter((name) => headers.get(name) !== null);
      results.push({ status, code: body.code, readable });
    } catch (error) {
      results.push(error.name);
    }
  }
  return results;
`;

const blocked = 'TypeError';
const readable = ['x-request-id', 'x-service-resolved-tenant'];

t.test(
  'a browser lets a page of a listed origin do all it may, and no other page',
  { skip: withoutChromium },
  async (t) => {
    const upstream = await startUpstream(t, (_request, response) => {
      // What the gateway replaces: without that, every page could read this.
      response.writeHead(200, {
        'access-control-allow-origin': '*',
        'access-control-expose-headers': '*',
        'x-of-the-upstream': 'for servers only',
      });
      response.end('{}');
    });
    const site = () =>
      startUpstream(t, (_request, response) => {
        response.setHeader('content-type', 'text/html').end('<!doctype html>');
      });
    const [page, stranger] = [await site(), await site()];
    const cors: CorsConfig = {
      origins: [page.url],
      headers: ['Authorization', 'Content-Type', 'X-Service-Acting-Tenant'],
      expose: ['X-Request-Id', 'X-Service-Resolved-Tenant'],
      credentials: false,
      maxAgeMs: 600_000,
    };
    const { port, parent, directory, finished } = await startGateway(t, {
      routes: {
        '/': { upstream: upstream.url, cors },
        '/scoped': { upstream: upstream.url, cors, scopes: { read: 'some:thing', write: null } },
        '/cookies': { upstream: upstream.url, cors: { ...cors, credentials: true } },
      },
    });
    directory.addSubAccount(parent, 'child');
    const authorization = `Bearer ${parent.key}`;
    const acting = { authorization, 'x-service-acting-tenant': 'ext:child' };
    const writing = { ...acting, 'content-type': 'application/json' };
    const put = { path: '/thing', options: { method: 'PUT', headers: writing, body: '{}' } };
    const cases: readonly (readonly [string, object, unknown])[] = [
      ['a read', { path: '/', options: { headers: acting } }, { status: 200, readable }],
      ['a write', put, { status: 200, readable }],
      ['the same again', put, { status: 200, readable }],
      ['DELETE', { path: '/', options: { method: 'DELETE', headers: acting } }, { status: 200, readable }],
      ['PATCH', { path: '/', options: { ...put.options, method: 'PATCH' } }, { status: 200, readable }],
      ['no key', { path: '/' }, { status: 401, code: 'unauthenticated', readable: ['x-request-id'] }],
      [
        'no scope',
        { path: '/scoped', options: { headers: acting } },
        { status: 403, code: 'insufficient_scope', readable: ['x-request-id'] },
      ],
      [
        'no acting header',
        { path: '/', options: { method: 'POST', headers: { authorization } } },
        { status: 400, code: 'acting_tenant_required', readable: ['x-request-id'] },
      ],
      [
        'a header that is not listed',
        { path: '/', options: { headers: { ...acting, 'x-odd': '1' } } },
        blocked,
      ],
      [
        'cookies where they are not',
        { path: '/', options: { credentials: 'include', headers: acting } },
        blocked,
      ],
      [
        'cookies where they are',
        { path: '/cookies', options: { credentials: 'include', headers: acting } },
        { status: 200, readable },
      ],
    ];
    const browser = await openBrowser(t);
    const resultsOf = async ({ url }: { readonly url: string }): Promise<unknown[]> => {
      const given = { gateway: `http://127.0.0.1:${port}`, fetches: cases.map(([, fetches]) => fetches) };
      const opened = await browser.newPage();
      await opened.goto(url);
      return opened.evaluate(`(async (given) => {${script}})(${JSON.stringify(given)})`);
    };

    const results = await resultsOf(page);
    for (const [i, [name, , expected]] of cases.entries()) t.same(results[i], expected, name);
    const preflights = finished.filter(({ method, path }) => method === 'OPTIONS' && path === '/thing');
    t.equal(preflights.length, 1, 'the browser remembers a preflight');

    const before = upstream.heads;
    const strangers = await resultsOf(stranger);
    for (const [i, [name]] of cases.entries()) t.equal(strangers[i], blocked, `${name}, for a stranger`);
    t.equal(upstream.heads, before, 'none of them came to the upstream');
  },
);
