// class: app
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { described, type Named } from '../../../src/api/reference/described.ts';
import type { Described, Member } from '../../../src/api/reference/operation-index.ts';
import { pageOf } from '../../../src/api/reference/page.ts';
import { startApis } from '../../support/apis.ts';

const names: Named = {
  headerPrefix: 'X-Acme-',
  schemes: ['Bearer', 'ApiKey', 'Basic'],
  apiKeyHeaders: ['X-API-Key'],
  keyPrefix: 'acme',
  typeBase: 'https://acme.test/problems/',
  title: null,
};

function read(name: string): string {
  return readFileSync(new URL(`../../../src/generated/${name}.json`, import.meta.url), 'utf8');
}

/** Arguments that a shell hands to `curl`. */
function argumentsOf(command: string): string[] {
  const script = `curl() { printf '%s\\n' "$#"; for one in "$@"; do printf '%s\\0' "$one"; done; }\n${command}`;
  const env = {
    API_URL: 'https://api',
    API_KEY: 'key',
    INTERNAL_URL: 'http://gateway',
    ADMIN_TOKEN: 'token',
  };
  const { stdout, status } = spawnSync('sh', ['-euc', script], { encoding: 'utf8', env });
  if (status !== 0) throw new Error(command);
  return stdout
    .slice(stdout.indexOf('\n') + 1)
    .split('\0')
    .slice(0, -1);
}

const unescaped = (html: string): string =>
  html.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));

for (const [name, base, credential] of [
  ['sub-accounts', 'https://api', 'key'],
  ['operator', 'http://gateway', 'token'],
] as const) {
  t.test(`the page of ${name} has a call of each operation that a shell takes`, (t) => {
    const document = JSON.parse(described(read(name), names)) as Described;
    const page = pageOf(document);
    for (const [path, operations] of Object.entries(document.paths))
      for (const [method, { operationId, requestBody, parameters }] of Object.entries(operations)) {
        const article = new RegExp(`<article id="${operationId}".*?</article>`, 's').exec(page)?.[0] ?? '';
        const [, call = ''] = /aria-label="Call">(.*?)<\/pre>/s.exec(article) ?? [];
        const args = argumentsOf(unescaped(call));
        const url = new URL(args.find((one) => one.startsWith(base)) ?? '');
        t.match(url.pathname, new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[\\w.-]{3,}')}$`), operationId);
        t.notMatch(args.join(' '), /undefined|\{\w+\}/, 'each parameter has a value');
        t.equal(args[args.indexOf('-X') + 1] === method.toUpperCase(), method !== 'get', operationId);
        t.ok(args.includes(`Authorization: Bearer ${credential}`));
        const repeats = parameters.some(({ $ref: ref }) => String(ref).endsWith('/IdempotencyKey'));
        t.equal(
          args.some((one) => one.startsWith('Idempotency-Key: ')),
          repeats,
          operationId,
        );
        t.equal(args.includes('-d'), requestBody !== undefined, operationId);
        if (requestBody !== undefined) {
          t.ok(args.includes('Content-Type: application/json'));
          const [shown] = Object.values(requestBody.content['application/json']?.['examples'] as Member);
          const example =
            String((shown as Member)['$ref'])
              .split('/')
              .at(-1) ?? '';
          t.same(
            JSON.parse(args[args.indexOf('-d') + 1] ?? ''),
            document.components['examples']?.[example]?.['value'],
          );
        }
      }
    t.end();
  });
}

t.test('the page says how a call carries its credential', (t) => {
  const page = pageOf(JSON.parse(described(read('sub-accounts'), names)) as Described);
  const [section = ''] =
    /<section class="group"><article id="authentication".*?<\/section>/s.exec(page) ?? [];
  t.match(section, /<code>Authorization: Bearer acme_…<\/code>/);
  t.match(section, /<code>X-API-Key: …<\/code>/);
  t.match(page, /<a href="#authentication">/);
  t.end();
});

t.test(
  'reference.title names the page and the document for parents, and takes the licence away',
  async (t) => {
    const title = 'Acme API <sub-accounts>';
    const apis = await startApis(t, { reference: { title } });
    const { body } = await apis.call('GET', '/v1/sub-accounts/openapi.json');
    t.match(body, { info: { title, license: undefined, version: String } });
    const page = await (await fetch(`${apis.origin}/v1/sub-accounts/docs`)).text();
    t.match(page, '<title>Acme API &#60;sub-accounts&#62;</title>');
    t.notMatch(page.slice(0, page.indexOf('<main')), 'Tenancy Gateway');
    const operators = await (await fetch(`${apis.internalOrigin}/admin/v1/docs`)).text();
    t.match(operators, '<title>Tenancy Gateway');
  },
);

t.test('without reference.enabled its paths are like any unknown one, and the operators’ stay', async (t) => {
  const apis = await startApis(t, { reference: { enabled: false } });
  const { key } = await apis.parent();
  for (const path of ['/v1/sub-accounts/docs', '/v1/sub-accounts/openapi.json']) {
    t.equal((await apis.call('GET', path)).status, 401, `${path} without a key`);
    t.equal((await apis.call('GET', path, { key })).status, 404, path);
  }
  t.equal((await fetch(`${apis.internalOrigin}/admin/v1/docs`)).status, 200);
});
