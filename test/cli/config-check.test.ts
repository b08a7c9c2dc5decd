// class: pure
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { commandLine } from '../support/command-line.ts';
import { tempFolder } from '../support/process.ts';

t.test('config check says what a start would say, for people and for programs', async (t) => {
  const example = fileURLToPath(new URL('../../config/gateway.yaml', import.meta.url));
  const bad = join(tempFolder(t), 'bad.yaml');
  writeFileSync(bad, 'listen: {port: x}\nlisen: 1\n');
  const [good, faulty, programs, missing] = await Promise.all([
    commandLine({}, 'config', 'check', example),
    commandLine({}, 'config', 'check', bad),
    commandLine({ CONFIG: bad }, '--json', 'config', 'check'),
    commandLine({}, 'config', 'check', '/does/not/exist.yaml'),
  ]);
  t.match(good, { code: 0, stdout: /is good[^]*127\.0\.0\.1:8080[^]*built-in echo/ });
  t.match(faulty, { code: 78, stderr: /2 faults[^]*bad\.yaml:1:10 listen\.port[^]*bad\.yaml:2:1 lisen/ });
  t.match(JSON.parse(programs.stderr), {
    exit_code: 78,
    faults: [{ where: /:1:10 listen/ }, { where: /:2:1 lisen/ }],
  });
  t.match(missing, { code: 78, stderr: /no such file/ });
});

t.test(
  'the placeholders of the examples are faults, and a token that can be guessed is a warning',
  async (t) => {
    const example = readFileSync(new URL('../../examples/linux/environment', import.meta.url), 'utf8');
    const lines = example.split('\n').filter((line) => /^[A-Z_]+=/.test(line));
    const env = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2))) as Record<
      string,
      string
    >;
    const UPSTREAM_URL = 'http://127.0.0.1:9';
    const check = (more: Record<string, string>) => commandLine({ UPSTREAM_URL, ...more }, 'config', 'check');
    t.match(await check(env), {
      code: 78,
      stderr: /ADMIN_TOKEN +is a placeholder[^]*DATABASE_URL +has a placeholder/,
    });
    const short = await check({ ADMIN_TOKEN: 'A'.repeat(31) });
    t.match(short, { code: 0, stdout: /Warnings:[^]*ADMIN_TOKEN +can be guessed: it has 31 characters/ });
    t.notMatch(short.stdout, 'AAAA');
    t.notMatch(await check({ ADMIN_TOKEN: 'A'.repeat(32) }), { stdout: /Warnings/ });
  },
);
