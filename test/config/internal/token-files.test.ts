// class: pure
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { configFile, faultsOf, goodConfig } from '../../support/config-files.ts';

t.test('a folder as Kubernetes mounts a Secret gives each operator a token', (t) => {
  const folder = t.testdir({ '..2026_11_22': { alice: 'first\n', 'bob.o@example.com': 'second' } });
  symlinkSync('..2026_11_22', `${folder}/..data`);
  for (const name of ['alice', 'bob.o@example.com']) symlinkSync(`..data/${name}`, `${folder}/${name}`);
  const CONFIG = configFile(t, 'internal: {admin_tokens: {carol: "third"}}');
  const { operators } = goodConfig({ CONFIG, ADMIN_TOKENS_DIR: folder });
  t.same(operators, [
    { operator: 'carol', token: 'third', role: 'admin' },
    { operator: 'alice', token: 'first', role: 'admin' },
    { operator: 'bob.o@example.com', token: 'second', role: 'admin' },
  ]);
  t.same(goodConfig({ ADMIN_TOKENS_DIR: t.testdir({}) }).operators, []);
  t.end();
});

t.test('what is wrong in the folder is a fault that shows no token', (t) => {
  const secret = 'sesame-and-more';
  const folder = t.testdir({ alice: secret, bob: `${secret} ${secret}`, operator: 'x', dave: secret });
  mkdirSync(`${folder}/erin`);
  writeFileSync(`${folder}/fred`, '');
  const CONFIG = configFile(t, 'internal: {admin_tokens: {alice: "other"}}');
  const faults = faultsOf({ CONFIG, ADMIN_TOKENS_DIR: folder });
  t.match(faults, [
    { where: `${folder}/bob`, detail: /visible ASCII/ },
    { where: `${folder}/fred`, detail: /visible ASCII/ },
    { where: `${folder}/operator`, detail: /other than operator/ },
    { where: 'ADMIN_TOKENS_DIR', detail: /^alice: has a token in admin_tokens, too/ },
    { where: 'ADMIN_TOKENS_DIR', detail: /^erin: the file cannot be read/ },
  ]);
  t.notMatch(JSON.stringify(faults), secret);
  t.match(faultsOf({ ADMIN_TOKENS_DIR: `${folder}/none` }), [
    { where: 'ADMIN_TOKENS_DIR', detail: /cannot be read/ },
  ]);
  t.end();
});
