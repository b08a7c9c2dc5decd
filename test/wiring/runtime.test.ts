// class: built
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import t from 'tap';
import { freshDatabase } from '../support/postgres.ts';
import { becomes, startProcess } from '../support/process.ts';
import { startUpstream } from '../support/upstreams.ts';

/** How nice this run is already, which what it starts inherits: 0, or what `nice` made of it. */
const inherited = getPriority();

const skip =
  process.platform !== 'linux'
    ? 'threads have priorities of their own on Linux only'
    : inherited >= 10 && 'this run is as nice as helper threads are made, so no difference could be seen';

t.test('the threads that collect and compile stand back behind the one that serves', { skip }, async (t) => {
  const upstream = await startUpstream(t);
  const { program, internalUrl } = await startProcess(t, {
    DATABASE_URL: await freshDatabase(t),
    UPSTREAM_URL: upstream.url,
    ADMIN_TOKEN: 'a-token-of-the-operator-of-this-test',
  });
  await becomes(internalUrl, 200);
  const pid = program.child.pid ?? NaN;
  const niceness = (thread: string | number): number =>
    // The name of a thread may hold spaces; the 17th field after it is how nice it is.
    Number(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ')[16]);
  t.equal(niceness(pid), inherited, 'the thread that serves keeps what it was given');
  const others = readdirSync(`/proc/${pid}/task`).filter((thread) => Number(thread) !== pid);
  t.ok(others.filter((thread) => niceness(thread) === 10).length >= 4, `${others.map(niceness).join()}`);
});
