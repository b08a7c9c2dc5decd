// class: app
/** What each role may call: every operation of the operator's document, with a token of every role. */
import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import t from 'tap';
import type { ManagementApp } from '../../../src/api/operations.ts';
import type { OperatorApp } from '../../../src/api/operator/operator-token.ts';
import type { TypeBoxProvider } from '../../../src/api/rest/typebox.ts';
import { operatorRoles, type OperatorRole } from '../../../src/domain/operator-role.ts';
import { managementScopes } from '../../../src/domain/scope.ts';
import type { UsageReplay } from '../../../src/ports/usage/replay.ts';
import { startApis } from '../../support/apis.ts';
import { documentedOperations, type Json, type OpenApi } from '../../support/openapi.ts';
import { makeWorld } from '../../support/openapi-world.ts';

/** The minimum role of every operation. */
const roles: Readonly<Record<string, OperatorRole>> = {
  listAccounts: 'viewer',
  getAccount: 'viewer',
  getAccountLimits: 'viewer',
  listAccountSubAccounts: 'viewer',
  getAccountSubAccount: 'viewer',
  listAccountApiKeys: 'viewer',
  getAccountApiKey: 'viewer',
  findApiKeys: 'viewer',
  getApiKey: 'viewer',
  getUsage: 'viewer',
  listEvents: 'viewer',
  getEvent: 'viewer',
  explainRequest: 'viewer',
  getErasure: 'viewer',
  listPlans: 'viewer',
  getPlan: 'viewer',
  listReplicas: 'viewer',
  watchRequests: 'viewer',
  whoami: 'viewer',
  beginSession: 'viewer',
  endSession: 'viewer',
  suspendAccount: 'support',
  resumeAccount: 'support',
  deactivateAccountSubAccount: 'support',
  reactivateAccountSubAccount: 'support',
  revokeAccountApiKey: 'support',
  revokeAllAccountApiKeys: 'support',
  revokeApiKey: 'support',
  createAccount: 'admin',
  updateAccount: 'admin',
  createAccountSubAccount: 'admin',
  updateAccountSubAccount: 'admin',
  mintAccountApiKey: 'admin',
  updateAccountApiKey: 'admin',
  rotateAccountApiKey: 'admin',
  updateApiKey: 'admin',
  rotateApiKey: 'admin',
  importAccounts: 'admin',
  importSubAccounts: 'admin',
  importApiKeys: 'admin',
  importAccountApiKeys: 'admin',
  deleteAccount: 'admin',
  deleteAccountSubAccount: 'admin',
  putPlan: 'admin',
  deletePlan: 'admin',
  exportUsage: 'admin',
  forgetUsage: 'admin',
};

const tokens: Readonly<Record<OperatorRole, string>> = {
  viewer: 'token-of-a-viewer-0123456789abcdef',
  support: 'token-of-support-0123456789abcdef',
  admin: 'token-of-an-admin-0123456789abcdef',
};

const operations = documentedOperations().filter(({ api }) => api === 'operators');
const document = JSON.parse(
  readFileSync(new URL('../../../src/generated/operator.json', import.meta.url), 'utf8'),
) as OpenApi;
/** Nothing is exported here. */
const usageReplay: UsageReplay = {
  closedUntil: () => Promise.resolve(Date.now()),
  replay: () => Promise.resolve({ events: [], rejected: [], next: null }),
};

t.test(
  'a route of the operator API without a role, or of the other without a scope, does not compile',
  async (t) => {
    const fastify = Fastify().withTypeProvider<TypeBoxProvider>();
    const [operators, parents]: [OperatorApp, ManagementApp] = [fastify, fastify];
    const handler = async () => ({});

    // @ts-expect-error: the route has no config.
    operators.get('/a', { schema: {} }, handler);
    // @ts-expect-error: the config has no role.
    operators.post('/b', { schema: {}, config: { action: true } }, handler);
    // @ts-expect-error: there is no such role.
    operators.patch('/c', { schema: {}, config: { role: 'viewr' } }, handler);
    // @ts-expect-error: the route has no config.
    parents.get('/d', { schema: {} }, handler);
    // @ts-expect-error: the config has no scope.
    parents.post('/e', { schema: {}, config: { action: true } }, handler);
    // @ts-expect-error: the gateway asks for no such scope.
    parents.patch('/f', { schema: {}, config: { scope: 'sub_accounts:reed' } }, handler);

    operators.get('/g', { schema: {}, config: { role: 'viewer' } }, handler);
    parents.get('/h', { schema: {}, config: { scope: managementScopes.read } }, handler);
    t.pass('`npm run check` says so: each line above that compiles is a fault of the types');
  },
);

t.test('the table has every operation, and the document says the same role', async (t) => {
  const documented = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map((operation) => {
      const { operationId, security } = operation as unknown as {
        readonly operationId: string;
        readonly security: readonly { readonly operatorToken: readonly string[] }[];
      };
      return [operationId, security[0]?.operatorToken[0]] as const;
    }),
  );
  t.same(Object.fromEntries(documented), roles);
});

t.test('a response that may have a secret is for the role admin', async (t) => {
  const secret = Object.entries(document.components['schemas'] ?? {})
    .filter(([, schema]) => /"(client_secret|api_key)":\{/.test(JSON.stringify(schema)))
    .map(([name]) => `"#/components/schemas/${name}"`);
  t.ok(secret.length >= 2, 'schemas with secrets');
  const withSecrets = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ responses }) => {
      const good = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      return secret.some((ref) => JSON.stringify(good).includes(ref));
    })
    .map(({ operationId }) => operationId);
  t.same(withSecrets.sort(), ['mintAccountApiKey', 'rotateAccountApiKey', 'rotateApiKey']);
  for (const id of withSecrets) t.equal(roles[id], 'admin', id);
});

t.test('every operation with a token of every role is admitted or rejected as the table says', async (t) => {
  const adminTokens = Object.fromEntries(
    operatorRoles.map((role) => [role, { token: tokens[role], role }] as const),
  );
  const apis = await startApis(t, { adminTokens, deps: { usageReplay } });
  const world = await makeWorld(apis, (_agoMs, act) => act());
  for (const operation of operations) {
    const needed = roles[operation.id] as OperatorRole;
    for (const role of operatorRoles) {
      const { path, headers = {}, body } = await world.callOf(operation);
      const response = await apis.operator(operation.method, path.slice('/admin/v1'.length), {
        key: tokens[role],
        headers,
        ...(body === undefined ? {} : { body }),
      });
      const what = `${operation.id} as ${role}: ${response.status}`;
      if (operatorRoles.indexOf(role) >= operatorRoles.indexOf(needed)) {
        // No replica has fallen silent here.
        const expected = operation.id === 'forgetUsage' ? [404] : [200, 201, 204];
        t.ok(expected.includes(response.status), what);
        continue;
      }
      t.match(
        response,
        { status: 403, body: { code: 'insufficient_role', role: needed } satisfies Json },
        what,
      );
      t.match(response.body['detail'], `\`${needed}\``, what);
    }
  }
});
