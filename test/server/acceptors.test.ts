// class: app
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { Acceptors } from '../../src/server/acceptors.ts';

const host = '127.0.0.1';
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const shares = process.platform === 'linux' && (major > 22 || (major === 22 && minor >= 12));

t.test(
  'a turn of the event loop accepts many connections',
  { skip: shares ? false : 'this Node.js cannot share an address among sockets' },
  async (t) => {
    const clients = 400;
    const accepted: Socket[] = [];
    const server = createServer((socket) => accepted.push(socket));
    const acceptors = new Acceptors(server, {});
    const { port } = await acceptors.listen({ host, port: 0 });
    for (let i = 0; i < clients; i++)
      connect(port, host)
        .on('error', () => undefined)
        .resume();
    let turns = 0;
    for (; accepted.length < clients; turns++) await new Promise((resolve) => setImmediate(resolve));
    t.ok(turns < clients / 4, `${turns} turns`);

    let isOver = false;
    acceptors.close(() => (isOver = true));
    for (const socket of accepted.splice(1)) socket.destroy();
    for (let i = 0; i < clients; i++) await new Promise((resolve) => setImmediate(resolve));
    t.notOk(isOver, 'one connection is open');
    accepted[0]?.destroy();
    await once(server, 'close');
    while (!isOver) await new Promise((resolve) => setImmediate(resolve));
    const refused = connect(port, host);
    const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
    t.equal(error.code, 'ECONNREFUSED');
  },
);

t.test('an address that another process listens on is taken', async (t) => {
  const first = new Acceptors(createServer(), {});
  t.teardown(() => first.close(() => undefined));
  const { port } = await first.listen({ host, port: 0 });
  await t.rejects(new Acceptors(createServer(), {}).listen({ host, port }), { name: 'CannotListen' });
});
