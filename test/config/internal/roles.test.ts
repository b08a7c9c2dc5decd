// class: pure
import { writeFileSync } from 'node:fs';
import t from 'tap';
import { configFile, faultsOf, goodConfig } from '../../support/config-files.ts';
import { loadConfig } from '../../../src/config/load.ts';

const token = 'a-token-in-a-file-0123456789abcdef';

t.test('an operator has the token in the file and the role, beside operators of the old form', (t) => {
  const folder = t.testdir({ alice: `${token}\n`, bob: `${token}-of-bob` });
  const CONFIG = configFile(
    t,
    `internal:
  admin_tokens:
    carol: a-token-in-the-settings-0123456789
    alice: { token_file: ${folder}/alice, role: viewer }
    bob: { token_file: ${folder}/bob, role: support }`,
  );
  t.same(goodConfig({ CONFIG, ADMIN_TOKEN: 'the-usual-one-0123456789abcdef0123' }).operators, [
    { operator: 'operator', token: 'the-usual-one-0123456789abcdef0123', role: 'admin' },
    { operator: 'carol', token: 'a-token-in-the-settings-0123456789', role: 'admin' },
    { operator: 'alice', token, role: 'viewer' },
    { operator: 'bob', token: `${token}-of-bob`, role: 'support' },
  ]);
  t.end();
});

t.test('all that is wrong with operators is told at once, and shows no token', (t) => {
  const folder = t.testdir({ alice: token, same: token, spaces: `${token} ${token}`, short: 'abc' });
  writeFileSync(`${folder}/empty`, '');
  const entry = (name: string, role = 'viewer') => `{ token_file: ${folder}/${name}, role: ${role} }`;
  const faults = faultsOf({
    CONFIG: configFile(
      t,
      `internal:
  admin_tokens:
    a: ${entry('alice')}
    b: ${entry('same')}
    c: ${entry('spaces')}
    d: ${entry('empty')}
    e: ${entry('none')}
    f: ${entry('alice', 'root')}
    g: { token_file: ${folder}/alice }
    h: { role: viewer }
    i: { token: abc, role: viewer, token_file: ${folder}/alice }
    j: [viewer]
    operator: ${entry('alice')}`,
    ),
  });
  const found = faults.map(({ where, detail }) => `${where.replace(/^\S+ /, '')}: ${detail}`);
  for (const wanted of [
    /admin_tokens\.b\.token_file: is the token of another operator/,
    /admin_tokens\.c\.token_file: the file must hold a token/,
    /admin_tokens\.d\.token_file: the file must hold a token/,
    /admin_tokens\.e\.token_file: there is no such file/,
    /admin_tokens\.f\.role: must be one of viewer, support, admin/,
    /admin_tokens\.g: role is missing/,
    /admin_tokens\.h: token_file is missing/,
    /admin_tokens\.i\.token: unknown key/,
    /admin_tokens\.j: must be text/,
    /admin_tokens\.operator: .*other than operator/,
  ])
    t.ok(
      found.some((fault) => wanted.test(fault)),
      String(wanted),
    );
  t.notMatch(JSON.stringify(faults), token);
  t.end();
});

t.test('a short token in a file is a warning, and a command reads no token file', (t) => {
  const folder = t.testdir({ alice: 'abc' });
  const CONFIG = configFile(
    t,
    `internal: {admin_tokens: {alice: {token_file: ${folder}/alice, role: admin}}}`,
  );
  const loaded = loadConfig({ CONFIG });
  t.match(loaded, { warnings: [{ where: /token_file$/, detail: /can be guessed/ }] });
  const unreadable = configFile(
    t,
    `internal: {admin_tokens: {a: {token_file: ${folder}/none, role: admin}}}`,
  );
  t.match(loadConfig({ CONFIG: unreadable }, { purpose: 'command' }), { config: { operators: [] } });
  t.end();
});
