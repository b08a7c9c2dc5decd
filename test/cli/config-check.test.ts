import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { cli, tempFolder } from '../support/process.ts';

t.test('config check says what a start would say, for people and for programs', async (t) => {
  const example = fileURLToPath(new URL('../../config/gateway.yaml', import.meta.url));
  const bad = join(tempFolder(t), 'bad.yaml');
  writeFileSync(bad, 'listen: {port: x}\nlisen: 1\n');
  const [good, faulty, programs, missing] = await Promise.all([
    cli({}, 'config', 'check', example),
    cli({}, 'config', 'check', bad),
    cli({ CONFIG: bad }, '--json', 'config', 'check'),
    cli({}, 'config', 'check', '/does/not/exist.yaml'),
  ]);
  t.match(good, { code: 0, stdout: /is good[^]*127\.0\.0\.1:8080[^]*built-in echo/ });
  t.match(faulty, { code: 78, stderr: /2 faults[^]*bad\.yaml:1:10 listen\.port[^]*bad\.yaml:2:1 lisen/ });
  t.match(JSON.parse(programs.stderr), {
    exit_code: 78,
    faults: [{ where: /:1:10 listen/ }, { where: /:2:1 lisen/ }],
  });
  t.match(missing, { code: 78, stderr: /no such file/ });
});
