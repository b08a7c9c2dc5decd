// class: app
/** What `docs/maintainers/private-parts.md` lists of Node's cluster is there, and does what it says; workers are processes of their own. */
import type { ChildProcess } from 'node:child_process';
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { eventually } from '../../support/eventually.ts';
import { rawRequest, requestText } from '../../support/raw-client.ts';
import { unusedPort } from '../../servers/unused-port.mjs';

/** Responds with the worker's number. */
const program = `
  const { worker } = require('node:cluster');
  const { createServer } = require('node:http');
  const server = createServer((_request, response) => response.end(String(worker.id)));
  if (process.env.REFUSES) server.maxConnections = -1;
  server.listen({ host: '127.0.0.1', port: Number(process.env.LISTENS_ON) });
`;

t.test('Node: a worker whose server has maxConnections below zero leaves all to the others', async (t) => {
  const { fork, ask } = await startCluster(t);
  const [refusing, taking] = [await fork({ REFUSES: '1' }), await fork()];
  const { sent, answers } = handedOn(refusing.process);
  for (let i = 0; i < 10; i++) t.equal(await ask(), String(taking.id));
  await eventually(() => sent.length > 0 && answers.length === sent.length);
  t.ok(answers.every(({ accepted }) => !accepted));
});

t.test('Node: a connection is sent as `newconn` with a number, with which the worker answers', async (t) => {
  const { fork, ask } = await startCluster(t);
  const { sent, answers } = handedOn((await fork()).process);
  for (let i = 0; i < 3; i++) await ask();
  await eventually(() => answers.length === 3);
  t.same(
    answers,
    sent.map(({ seq }) => ({ ack: seq, accepted: true })),
  );
  t.ok(sent.every(({ seq, close }) => seq !== undefined && typeof close === 'function'));
});

/** A cluster on one port whose primary is this process. */
async function startCluster(t: Test) {
  const port = await unusedPort();
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: join(t.testdir({ 'worker.cjs': program }), 'worker.cjs'), execArgv: [] });
  return {
    fork: async (env: Readonly<Record<string, string>> = {}): Promise<Worker> => {
      const worker = cluster.fork({ LISTENS_ON: String(port), ...env });
      t.teardown(() => worker.process.kill('SIGKILL'));
      await once(worker, 'listening');
      return worker;
    },
    /** The number of the worker that responds to a request on a connection of its own. */
    ask: async (): Promise<string> => (await rawRequest(t, port, requestText('GET', '/'))).body,
  };
}

/** The connections that a worker is sent from now on, and what it says to them. */
function handedOn(worker: ChildProcess) {
  const sent: { readonly seq: unknown; readonly close: unknown }[] = [];
  const answers: { readonly ack: unknown; readonly accepted: unknown }[] = [];
  const send = worker.send.bind(worker) as (...args: unknown[]) => boolean;
  worker.send = (...args: unknown[]) => {
    const [message, handle] = args as [{ act?: string; seq?: unknown }, { close?: unknown } | undefined];
    if (message.act === 'newconn') sent.push({ seq: message.seq, close: handle?.close });
    return send(...args);
  };
  worker.on('internalMessage', ({ ack, accepted }: { ack?: unknown; accepted?: unknown }) => {
    if (ack !== undefined) answers.push({ ack, accepted });
  });
  return { sent, answers };
}
