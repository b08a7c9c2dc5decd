import t from 'tap';
import { goneUnannounced, surface } from '../../../scripts/generate/surface.ts';

const id = { type: 'string', format: 'uuid' };
const account = {
  type: 'object',
  required: ['id', 'state'],
  properties: {
    id,
    state: { type: 'string', enum: ['open', 'shut'] },
    limits: { type: 'object', properties: { burst: { type: ['integer', 'null'], minimum: 1 } } },
  },
};
const error = { schema: { properties: { code: { enum: ['not_found'] } } } };
const document = {
  paths: {
    '/v1/accounts': {
      post: operation('AccountId', { limit: { type: 'integer', maximum: 100, minimum: 1 } }),
    },
    '/v1/accounts/{id}': { get: operation('AccountId', {}) },
  },
  components: {
    schemas: { Account: account, AccountId: id },
    parameters: {},
    headers: {},
    responses: { NotFound: { content: { 'application/problem+json': error } } },
  },
};

function operation(takes: string, query: Readonly<Record<string, object>>): object {
  return {
    security: [{ key: ['read'] }],
    parameters: Object.entries(query).map(([name, schema]) => ({ in: 'query', name, schema })),
    requestBody: { content: json(`#/components/schemas/${takes}`) },
    responses: {
      200: { content: json('#/components/schemas/Account') },
      404: { $ref: '#/components/responses/NotFound' },
    },
  };
}

function json($ref: string): object {
  return { 'application/json': { schema: { $ref } } };
}

t.test(
  'a call, a parameter, a member at any depth, each value of an enumeration and a code have a line',
  (t) => {
    const lines = surface([document]).trim().split('\n');
    t.same(
      lines.filter((line) => !line.startsWith('setting ')),
      [
        'any call /v1/accounts 200 Account',
        'any call /v1/accounts 404 not_found',
        'any call /v1/accounts needs read',
        'any call /v1/accounts takes AccountId',
        'body Account.id: string uuid',
        'body Account.limits.burst?: integer or null 1..',
        'body Account.limits?: object',
        'body Account.state: "open"',
        'body Account.state: "shut"',
        'call POST /v1/accounts query limit?: integer 1..100',
      ],
    );
    t.end();
  },
);

t.test('a setting has a line with its type, its default and its variable', (t) => {
  t.ok(surface([]).split('\n').includes('setting listen.port: integer 0..65535 = 8080 [PORT]'));
  t.end();
});

t.test('a line that a release has goes only if the changelog quotes it; new lines are free', (t) => {
  const released = 'body Account.id: string\nbody Account.name: string\n';
  const present = 'body Account.id: string\nbody Account.plan?: string\n';
  const gone = (changelog: string): readonly string[] => goneUnannounced({ released, present, changelog });
  t.same(gone('- Accounts have plans.'), ['body Account.name: string']);
  t.same(gone('- `body Account.name: string` is gone.'), []);
  t.end();
});
