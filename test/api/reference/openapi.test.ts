// class: app
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { operatorToken, startApis, type Apis } from '../../support/apis.ts';
import type { HttpResponse } from '../../support/http-client.ts';

interface Operation {
  readonly operationId: string;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const read = (file: string): OpenApi =>
  JSON.parse(readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')) as OpenApi;
const parents = read('src/generated/sub-accounts.json');
const operators = read('src/generated/operator.json');
const acting = read('src/generated/acting-tenant.json');

t.test('a running gateway has the paths and methods of the documents, and no others there', async (t) => {
  const apis = await startApis(t);
  const { key } = await apis.parent();
  for (const [path, operations] of Object.entries({ ...parents.paths, ...operators.paths })) {
    const methods = Object.keys(operations).map((method) => method.toUpperCase());
    const expected = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort().join(', ');
    const url = path.replaceAll(/\{\w+\}/g, crypto.randomUUID());
    const response = path.startsWith('/admin/v1')
      ? await apis.operator('PROPFIND', url.slice('/admin/v1'.length))
      : await apis.call('PROPFIND', url, { key });
    t.match(response, { status: 405, headers: { allow: expected } }, path);
  }
});

t.test(
  'every reference leads somewhere, every component is used, and operations have names of their own',
  async (t) => {
    for (const document of [parents, operators, acting]) {
      const text = JSON.stringify(document);
      const refs = new Set(
        [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)].map(([, ...to]) => to.join('/')),
      );
      const components = Object.entries(document.components).flatMap(([kind, all]) =>
        Object.keys(all).map((name) => `${kind}/${name}`),
      );
      for (const ref of refs) t.ok(components.includes(ref), ref);
      if (document === acting) continue;
      const direct = components.filter((name) => !name.startsWith('securitySchemes/'));
      t.same(
        direct.filter((name) => !refs.has(name)),
        [],
      );
      const ids = Object.values(document.paths).flatMap((path) =>
        Object.values(path).map((one) => one.operationId),
      );
      t.same(ids.length, new Set(ids).size);
    }
  },
);

t.test('every example is of its schema', async (t) => {
  for (const document of [parents, operators]) {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ ...document, $id: 'https://gateway.example/document' });
    const { examples = {}, schemas = {} } = document.components;
    for (const [name, example] of Object.entries(examples)) {
      const { value } = example as { readonly value: { readonly code?: string } };
      const schema = schemas[name] === undefined ? 'Problem' : name;
      const validate = ajv.getSchema(`https://gateway.example/document#/components/schemas/${schema}`);
      t.ok(validate?.(value), `${name}: ${ajv.errorsText(validate?.errors)}`);
    }
  }
});

t.test('the documents are served to everyone, and under their paths there is nothing else', async (t) => {
  const apis = await startApis(t);
  const parent = await apis.parent();
  const sub = await (await parent.create()).mint();
  const internal = { call: internalCall(apis), path: '/admin/v1/openapi.json', document: operators };
  const external = { call: apis.call, path: '/v1/sub-accounts/openapi.json', document: parents };
  for (const { call, path, document } of [external, internal]) {
    for (const key of [undefined, parent.key, sub, 'nonsense', operatorToken]) {
      const response = await call('GET', path, key === undefined ? {} : { key });
      t.match(
        response,
        { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' } },
        path,
      );
      t.same(response.body, document);
      t.equal(response.headers['x-service-resolved-tenant'], undefined);
    }
    const head = await call('HEAD', path);
    t.match(head, { status: 200, text: '' });
    for (const method of ['POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']) {
      t.match(await call(method, path), { status: 401 }, `${method} ${path} without a key`);
      const known = await call(method, path, { key: call === apis.call ? parent.key : operatorToken });
      t.match(known, { status: 405, headers: { allow: 'GET, HEAD' } }, `${method} ${path}`);
    }
    t.match(await call('GET', `${path}/`), { status: 401 }, 'a path below is not for everyone');
  }
});

t.test('the page beside each document is for everyone, and may load nothing', async (t) => {
  const apis = await startApis(t);
  for (const [call, path] of [
    [apis.call, '/v1/sub-accounts/docs'],
    [internalCall(apis), '/admin/v1/docs'],
  ] as const) {
    const { status, headers, text } = await call('GET', path);
    t.equal(status, 200);
    t.equal(headers['content-type'], 'text/html; charset=utf-8');
    const policy = String(headers['content-security-policy']);
    t.match(
      policy,
      /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data:; /,
    );
    t.notMatch(policy, /unsafe|\*|http/);
    t.notMatch(text, /<(?:script|link|img|iframe)[^>]+(?:src|href)="(?!data:,)|@import|url\(/);
    t.match(await call('HEAD', path), { status: 200, text: '' });
    t.match(await call('GET', `${path}/x`), { status: 401 });
  }
});

t.test('a document says the names that the gateway is configured with', async (t) => {
  const typeBase = 'https://errors.example/"quoted"/';
  const apis = await startApis(t, {
    schemes: ['Bearer', 'Token', 'Basic'],
    apiKeyHeaders: ['X-Api-Key'],
    keyPrefix: 'acme_live',
    problemTypeBase: typeBase,
  });
  const { body, text } = await apis.call('GET', '/v1/sub-accounts/openapi.json');
  const { components, paths } = body as unknown as OpenApi;
  t.match(components['securitySchemes'], {
    apiKeyToken: { type: 'apiKey', in: 'header', name: 'Authorization', description: /`Token`/ },
    apiKeyBasic: { type: 'http', scheme: 'basic' },
    apiKeyHeader1: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
  });
  t.match(paths['/v1/sub-accounts']?.['post'], {
    security: ['apiKey', 'apiKeyToken', 'apiKeyBasic', 'apiKeyHeader1'].map((name) => ({
      [name]: ['sub_accounts:write'],
    })),
  });
  const challenge = 'Bearer, Token, Basic realm="api"';
  t.match(components['headers'], { WwwAuthenticate: { schema: { const: challenge }, example: challenge } });
  t.equal((await apis.call('GET', '/v1/sub-accounts')).headers['www-authenticate'], challenge);
  t.match(components['examples'], { NotFound: { value: { type: `${typeBase}not_found` } } });
  t.notMatch(text, /tgw_/);
  const { components: operators } = (await internalCall(apis)('GET', '/admin/v1/openapi.json'))
    .body as unknown as OpenApi;
  t.strictSame(Object.keys(operators['securitySchemes'] ?? {}), ['operatorToken'], 'operators send Bearer');
  t.match(operators['headers'], { WwwAuthenticate: { schema: { const: 'Bearer' } } });
});

function internalCall(
  apis: Apis,
): (method: string, path: string, more?: { key?: string }) => Promise<HttpResponse> {
  return (method, path, { key = '' } = {}) => apis.operator(method, path.slice('/admin/v1'.length), { key });
}
