// class: app
/** The console's files: what its pages may do, who may frame them, and from where they can be reached. */
import { readdirSync } from 'node:fs';
import t from 'tap';
import { startApis } from '../support/apis.ts';
import { httpClient } from '../support/http-client.ts';
import { startReplicas } from '../support/replicas.ts';

const apis = await startApis(t);
const internal = httpClient(t, apis.internalOrigin);
const files = readdirSync(new URL('../../dist/console/static/', import.meta.url));
const paths = ['/', '/console', '/console/', ...files.map((name) => `/console/${name}`)];

t.test('every response forbids inline code, other origins and frames', async (t) => {
  for (const path of paths) {
    const { status, headers } = await internal('GET', path);
    t.ok([200, 302].includes(status), path);
    const policy = String(headers['content-security-policy']).split('; ');
    t.same(
      policy.filter((directive) => !/^[a-z-]+ '(?:self|none)'$/.test(directive)),
      [],
      `${path}: no sources but the listener itself`,
    );
    for (const directive of ['default-src', 'frame-ancestors', 'base-uri', 'form-action'])
      t.ok(policy.includes(`${directive} 'none'`), `${path}: ${directive}`);
    t.equal(headers['x-frame-options'], 'DENY');
    t.equal(headers['x-content-type-options'], 'nosniff');
    t.equal(headers['referrer-policy'], 'no-referrer');
  }
});

t.test('the page has no inline script or style, and loads nothing from elsewhere', async (t) => {
  const { text } = await internal('GET', '/console/');
  t.notMatch(text, /<style|\son\w+=|\sstyle=|javascript:|https?:/i);
  for (const [, attributes, content] of text.matchAll(/<script([^>]*)>([^<]*)/g)) {
    t.match(attributes, /src="main-[A-Z0-9]{8}\.js"/);
    t.equal(content, '');
  }
});

t.test('files outside of the console are not served', async (t) => {
  for (const path of [
    '/console/../package.json',
    '/console/%2e%2e%2fpackage.json',
    '/console/..%5cconsole.js',
    '/console/static-files.js',
    '/console/main.tsx',
    '/console/',
  ]) {
    const { status, text } = await internal('GET', path);
    if (path === '/console/') t.match(text, '<!doctype html>');
    else t.equal(status, 404, path);
    t.notMatch(text, /createHash|"version"/, path);
  }
});

t.test('the public listener has no console: its paths go to the upstream, with a key', async (t) => {
  const { call, parent, last } = await startReplicas(t);
  const { key } = await parent();
  for (const path of paths) {
    t.equal((await call('GET', path)).status, 401, path);
    const { status, headers } = await call('GET', path, { key });
    t.equal(status, 200, path);
    t.equal(last().target, path, 'the upstream got it');
    t.equal(headers['content-security-policy'], undefined);
  }
});

t.test('without an operator there is no console', async (t) => {
  const closed = await startApis(t, { adminToken: null });
  const call = httpClient(t, closed.internalOrigin);
  for (const path of paths) t.equal((await call('GET', path)).status, 404, path);
});
