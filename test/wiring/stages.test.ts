// class: app
/** What is open in a process is closed in one written order, at its end and where it cannot start. */
import { request } from 'node:http';
import t from 'tap';
import { openLog } from '../../src/ops/logger.ts';
import { shutdownOrder, Stages, type Stage, type StageStep } from '../../src/wiring/stages.ts';
import { startGateway } from '../../src/wiring/start.ts';
import { configFile, goodConfig } from '../support/config-files.ts';
import { eventually } from '../support/eventually.ts';
import { freshDatabase } from '../support/postgres.ts';
import { named, parentOf } from '../support/reload.ts';
import type { Scope } from '../support/servers.ts';
import { migrated } from '../support/store.ts';
import { operatorToken } from '../support/apis.ts';

const openingOrder: readonly Stage[] = [
  'store',
  'echo',
  'tracing',
  'engine',
  'applications',
  'internal listener',
  'public listener',
  'readiness',
  'figures',
];

t.test('stages are closed in the written order, whatever order they were opened in', async (t) => {
  const stages = new Stages(['a', 'b', 'c', 'd'] as const);
  const closed: string[] = [];
  for (const name of ['b', 'd', 'a'] as const) {
    await stages.open(
      name,
      async () => name.toUpperCase(),
      async (opened) => void closed.push(opened),
    );
  }
  await Promise.all([stages.close(), stages.close()]);
  t.same(closed, ['A', 'B', 'D'], 'each once; not what was never opened');
});

t.test('a stage that cannot be closed does not keep the others open', async (t) => {
  const stages = new Stages(['a', 'b'] as const);
  let closed = false;
  const fault = new Error('stuck');
  await stages.open(
    'a',
    () => undefined,
    () => Promise.reject(fault),
  );
  await stages.open(
    'b',
    () => undefined,
    () => void (closed = true),
  );
  await t.rejects(stages.close(), fault);
  t.equal(closed, true);
});

t.test('the gateway stops in this order; a request under way holds up all that it needs', async (t) => {
  const upstream = await named(t, 'held', true);
  const { stages, closing } = recorded();
  const settings = { DATABASE_URL: await freshDatabase(t, migrated), ADMIN_TOKEN: operatorToken };
  const gateway = await startGateway(
    configOf(t, { ...settings, UPSTREAM_URL: upstream.url }),
    silent,
    stages,
  );
  await gateway.begun;
  const [origin, internal] = [gateway.publicAddress, gateway.internalAddress].map(
    ({ port }) => `http://127.0.0.1:${port}`,
  ) as [string, string];
  const { key } = await parentOf(t, origin, internal);
  const response = new Promise((resolve, reject) => {
    request(`${origin}/x`, { headers: { authorization: `Bearer ${key}` } }, (incoming) => {
      incoming.resume().on('end', () => resolve(incoming.statusCode));
    })
      .on('error', reject)
      .end();
  });
  await eventually(() => upstream.holding() === 1);

  const stopped = gateway.stop();
  await eventually(() => closing.length === 2);
  t.match(await (await fetch(`${internal}/readyz`)).text(), 'draining');
  t.same(closing, ['readiness', 'public listener'], 'nothing else while the request is under way');
  upstream.release();
  t.equal(await response, 200);
  await stopped;
  t.same(closing, [
    'readiness',
    'public listener',
    'applications',
    'figures',
    'engine',
    'tracing',
    'internal listener',
    'echo',
    'store',
  ]);
});

t.test('where a stage cannot be opened, exactly what was opened before is closed again', async (t) => {
  for (const [index, stage] of openingOrder.entries()) {
    const { stages, opening, closing } = recorded(stage);
    // Nothing listens there: the gateway starts all the same, and waits for its database.
    const env = { DATABASE_URL: 'postgres://user@127.0.0.1:1/none', UPSTREAM_URL: 'http://127.0.0.1:1' };
    await t.rejects(startGateway(configOf(t, env), silent, stages), { message: `no ${stage}` });
    t.same(opening, openingOrder.slice(0, index + 1));
    const opened = openingOrder.slice(0, index);
    t.same(
      closing,
      shutdownOrder.filter((name) => opened.includes(name)),
      `no ${stage}`,
    );
  }
});

const silent = openLog('silent').logger;

function configOf(t: Scope, env: Record<string, string>) {
  const ports = { PORT: '0', INTERNAL_PORT: '0' };
  return goodConfig({ ...ports, ...env, CONFIG: configFile(t, 'drain_delay_ms: 0\n') });
}

/** Stages that write down what becomes of them. One of them cannot be opened, where it is named. */
function recorded(failing?: Stage) {
  const told: Record<StageStep, Stage[]> = { opening: [], closing: [] };
  const stages = new Stages<Stage>(shutdownOrder, (step, stage) => {
    told[step].push(stage);
    if (step === 'opening' && stage === failing) throw new Error(`no ${stage}`);
  });
  return { stages, ...told };
}
