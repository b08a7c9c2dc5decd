// class: pure
import { availableParallelism } from 'node:os';
import t from 'tap';
import { configFile, faultsOf, goodConfig } from '../support/config-files.ts';

const DATABASE_URL = 'postgres://db/name';
const UPSTREAM_URL = 'http://127.0.0.1:1';

t.test('a number, or one a core; in the file as in the variable', async (t) => {
  const given = { DATABASE_URL, UPSTREAM_URL };
  t.equal(goodConfig({ ...given, WORKERS: 'auto' }).workers, availableParallelism());
  t.equal(goodConfig({ ...given, CONFIG: configFile(t, 'workers: 3') }).workers, 3);
  t.equal(goodConfig({ ...given, CONFIG: configFile(t, 'workers: auto') }).workers, availableParallelism());
});

t.test('anything else is a fault that says what would be none', async (t) => {
  const details = (WORKERS: string) =>
    faultsOf({ DATABASE_URL, UPSTREAM_URL, WORKERS }).map(({ where, detail }) => `${where} ${detail}`);
  t.match(details('0'), [/WORKERS must be at least 1/]);
  t.match(details('300'), [/WORKERS must be at most 256/]);
  t.match(details('many'), [/WORKERS must be a whole number or auto/]);
  t.match(details('1.5'), [/WORKERS must be a whole number or auto/]);
});

t.test('more than one on the embedded store is a fault, also where a database was named badly', async (t) => {
  t.match(faultsOf({ WORKERS: '2' }), [{ where: 'WORKERS', detail: /must be 1 on the embedded store/ }]);
  const badly = faultsOf({ WORKERS: '2', UPSTREAM_URL, DATABASE_URL: 'mysql://db' });
  t.same(
    badly.map(({ where }) => where),
    ['DATABASE_URL'],
  );
  t.equal(goodConfig({ WORKERS: '1' }).workers, 1);
});
