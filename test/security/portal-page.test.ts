// class: pure
/** The portal's page: what it may load, who may frame it, and which files it gives. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Fastify from 'fastify';
import t from 'tap';
import type { PortalConfig } from '../../src/config.ts';
import { installErrorReplies } from '../../src/http/errors.ts';
import { usualProblemForm } from '../../src/http/problem-body.ts';
import { portalPage } from '../../src/portal/portal-page.ts';
import { goodConfig } from '../support/config-files.ts';
import { tempFolder } from '../support/process.ts';
import type { Scope } from '../support/servers.ts';

const paths = ['/', '/index.html', '/main-ABCDEFGH.js', '/brand.css', '/logo'];

t.test('every file forbids inline code, other origins and frames', async (t) => {
  const get = await page(t, {});
  for (const path of paths) {
    const { statusCode, headers } = await get(path);
    t.equal(statusCode, 200, path);
    const policy = String(headers['content-security-policy']).split('; ');
    t.notMatch(policy.join(), /unsafe|http|\*/, path);
    for (const directive of ['default-src', 'frame-ancestors'])
      t.ok(policy.includes(`${directive} 'none'`), `${path}: ${directive}`);
    t.equal(headers['x-frame-options'], 'DENY');
    t.equal(headers['x-content-type-options'], 'nosniff');
    t.equal(headers['referrer-policy'], 'no-referrer');
  }
});

t.test('the pages that may frame it are those of the configuration alone', async (t) => {
  const get = await page(t, { frameAncestors: ['https://a.example', 'https://b.example:8443'] });
  const { headers } = await get('/');
  t.match(
    String(headers['content-security-policy']),
    /; frame-ancestors https:\/\/a\.example https:\/\/b\.example:8443$/,
  );
  t.equal(headers['x-frame-options'], undefined, 'it could only forbid them');
  t.match((await get('/logo')).headers['content-security-policy'], "frame-ancestors 'none'");
});

t.test('a logo that is opened by itself runs no script and reaches nothing', async (t) => {
  const { headers, body } = await (await page(t, {}))('/logo');
  t.equal(headers['content-type'], 'image/svg+xml');
  t.equal(headers['content-security-policy'], "default-src 'none'; sandbox; frame-ancestors 'none'");
  t.equal(body, '<svg/>');
  const { statusCode } = await (await page(t, { logo: null }))('/logo');
  t.equal(statusCode, 404, 'without one');
});

t.test('browsers ask again for all that can change under its name', async (t) => {
  const get = await page(t, {});
  for (const path of paths) {
    const { headers } = await get(path);
    const expected = path.startsWith('/main-') ? 'public, max-age=31536000, immutable' : 'no-cache';
    t.equal(headers['cache-control'], expected, path);
    t.equal((await get(path, { 'if-none-match': String(headers.etag) })).statusCode, 304, path);
  }
});

t.test('the brand is public, and has nothing else of the configuration', async (t) => {
  const links = [{ name: 'Help', url: 'mailto:help@example.com' }];
  const { statusCode, body } = await (await page(t, { links }))('/api/brand');
  t.equal(statusCode, 200);
  t.same(JSON.parse(body), { name: 'API keys', links, has_logo: true });
});

t.test('files outside of the page are not served', async (t) => {
  const get = await page(t, {});
  for (const path of [
    '/../secret.txt',
    '/%2e%2e%2fsecret.txt',
    '/..%5csecret.txt',
    '/folder/index.html',
    '/folder%2findex.html',
    '/constructor',
    '/__proto__',
    '/portal-page.js',
    '/api/brand/x',
  ]) {
    const { statusCode, body } = await get(path);
    t.equal(statusCode, 404, path);
    t.notMatch(body, 'outside', path);
  }
});

async function page(t: Scope, portal: Partial<PortalConfig>) {
  const usual = goodConfig({ PORTAL_PORT: '0', PORTAL_URL: 'https://portal.example/' }).portal;
  const logo = { type: 'image/svg+xml', base64: Buffer.from('<svg/>').toString('base64') };
  const app = Fastify();
  t.teardown(() => app.close());
  installErrorReplies(app, usualProblemForm);
  const config = { ...usual, logo, ...portal } as PortalConfig;
  await app.register(portalPage, { portal: config, files: builtPage(t) });
  return (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
}

function builtPage(t: Scope): URL {
  const folder = tempFolder(t);
  const files = join(folder, 'static');
  mkdirSync(files);
  writeFileSync(join(folder, 'secret.txt'), 'outside');
  writeFileSync(join(files, 'index.html'), '<!doctype html>');
  writeFileSync(join(files, 'main-ABCDEFGH.js'), 'void 0');
  return pathToFileURL(`${files}/`);
}
