// class: pure
/** Numbers of advisory locks in the functions of the database. */
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';

/** Functions that share a lock on purpose, one group a lock. */
const shared = [
  ['api_key_import', 'api_key_import_rows'],
  ['fleet_admit', 'fleet_require'],
  ['usage_count', 'usage_late_lock'],
  ['usage_fence', 'usage_late_until'],
  ['usage_prune_days', 'usage_prune_hours', 'usage_roll_up'],
];

t.test('no two functions take a lock of the same number by accident', async (t) => {
  const folder = new URL('../../../../src/adapters/postgres/schema/functions/', import.meta.url);
  const users = new Map<string, string[]>();
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!path.endsWith('.sql')) continue;
    const text = readFileSync(new URL(path, folder), 'utf8');
    for (const [, number = ''] of text.matchAll(/advisory_xact_lock(?:_shared)?\((\d+)\)/g))
      users.set(number, [...(users.get(number) ?? []), path.replace(/^.*[/\\]|\.sql$/g, '')]);
  }
  t.ok(users.size > 8, 'the numbers are found');
  t.same(
    [...users.values()]
      .filter(({ length }) => length > 1)
      .map((names) => names.sort())
      .sort(),
    shared,
  );
});
