// class: pure
import Fastify from 'fastify';
import t from 'tap';
import type { ManagementApp } from '../../src/api/operations.ts';
import type { TypeBoxProvider } from '../../src/api/rest/typebox.ts';
import { managementScopes } from '../../src/domain/scope.ts';

t.test('a management route without a scope does not compile', async (t) => {
  const app: ManagementApp = Fastify().withTypeProvider<TypeBoxProvider>();
  const handler = async () => ({});

  // @ts-expect-error: the route has no config.
  app.get('/a', { schema: {} }, handler);
  // @ts-expect-error: the config has no scope.
  app.post('/b', { schema: {}, config: { action: true } }, handler);
  // @ts-expect-error: the gateway asks for no such scope.
  app.patch('/c', { schema: {}, config: { scope: 'sub_accounts:reed' } }, handler);

  app.get('/d', { schema: {}, config: { scope: managementScopes.read } }, handler);
  t.pass('`npm run check` says so: each line above that compiles is a fault of the types');
});
