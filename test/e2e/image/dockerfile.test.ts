// class: built
import t from 'tap';
import { existsSync } from 'node:fs';
import { v8Flags } from '../../../src/wiring/v8-flags.ts';
import { readText, readYaml } from '../../support/helm.ts';

const dockerfile = readText('Dockerfile');

t.test('package, image, chart and examples are of one version', async (t) => {
  const { version } = JSON.parse(readText('package.json')) as { version: string };
  const released = version.replace(/[-.]dev$/, '');
  t.match(dockerfile, `ARG VERSION=${version}\n`);
  for (const chart of ['tenancy-gateway', 'tenancy-gateway-sidecar'])
    t.equal((readYaml(`helm/${chart}/Chart.yaml`) as { appVersion: string }).appVersion, version, chart);
  const { image } = readYaml('helm/tenancy-gateway-sidecar/values.yaml') as { image: { tag: string } };
  t.equal(image.tag, version);
  for (const file of ['examples/sidecar/shop.yaml', 'examples/compose/compose.yaml'])
    t.match(readText(file), `tenancy-gateway:${version}\n`, file);
  const named = [
    ...readText('README.md').matchAll(/(?:REPOSITORY:|--version |\/v|gateway-)(\d+\.\d+\.\d+)/g),
  ];
  t.same(
    [...new Set(named.map(([, named]) => named))],
    [released],
    'README installs it, or the release to come',
  );
});

t.test('the build gets what it copies, and nothing else of the folder', async (t) => {
  const admitted = readText('.dockerignore').match(/(?<=^!).+/gm) ?? [];
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files = '']) =>
    files.split(' '),
  );
  t.same([...new Set(copied)].sort(), [...admitted].sort());
  for (const file of copied) t.ok(existsSync(new URL(`../../../${file}`, import.meta.url)), file);
});

t.test('files that packages do not need are dropped before a start that loads all of them', async (t) => {
  const [dropped, started] = [dockerfile.indexOf('-exec rm -r'), dockerfile.indexOf('AS started')];
  t.ok(dropped > 0 && started > dropped);
  t.match(dockerfile.slice(started), 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=', 'tracing is loaded on demand');
});

t.test('Node.js is the first process of the container, as a user with a number', async (t) => {
  t.match(dockerfile, /^USER \d+:\d+$/m);
  t.match(dockerfile, /^CMD \["node", .*"dist\/main\.js"\]$/m, 'a shell would keep SIGTERM to itself');
  t.notMatch(dockerfile, /^ENTRYPOINT/m);
});

t.test(
  'the image, its first start, the unit for systemd, npm start and README give Node.js the same flags',
  async (t) => {
    const flags = v8Flags.join(' ');
    const command = /^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? '[]';
    t.equal((JSON.parse(command) as string[]).slice(1, -1).join(' '), flags);
    t.ok(dockerfile.includes(`{ node ${flags} dist/main.js`), 'what Node.js compiled is kept by its flags');
    const unit = readText('examples/linux/tenancy-gateway@.service');
    t.ok(unit.includes(`\nExecStart=/usr/bin/env node ${flags} /usr/local/bin/tenancy-gateway serve\n`));
    t.ok(readText('package.json').includes(`"exec node ${flags} scripts/start.mjs"`));
    t.ok(readText('README.md').includes(`node ${flags} dist/main.js`));
  },
);
