// class: built
/** `examples/compose`, run by a container engine as the head of its file says. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { eventually } from '../../support/eventually.ts';
import { readText, readYaml } from '../../support/helm.ts';
import { tempFolder } from '../../support/process.ts';
import { unusedPort } from '../../servers/unused-port.mjs';
import { buildNetwork, engine, run, withoutImages } from './engine.ts';

const file = 'examples/compose/compose.yaml';
const { services } = readYaml(file) as {
  services: Readonly<Record<string, { readonly image: string; readonly build?: string }>>;
};
const bases = [...readText('Dockerfile').matchAll(/^ARG \w+_IMAGE=(.+)$/gm)].map(([, image = '']) => image);
const named = Object.values(services).flatMap(({ image, build }) => (build === undefined ? [image] : []));

t.test(
  'the commands at the head of compose.yaml bring a gateway up, make a request as a sub-account, and leave nothing',
  { skip: await withoutImages(t, [...bases, ...named]) },
  async (t) => {
    t.comment(engine ?? '');
    const { port, example, list } = await setUp(t);
    const [up, createAccount, createKey, createSubAccount, actAs, down, ...more] = documented();
    t.same(more, []);

    await example(up);
    t.pass('up, and waited for');
    const account = await example(createAccount);
    const [id = ''] = /\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b/.exec(account) ?? [];
    t.ok(id, account);
    const [key = ''] = /\btgw_\w+/.exec(await example(createKey, { '<account-id>': id })) ?? [];
    t.ok(key);
    const ada = JSON.parse(await example(createSubAccount, { '<key>': key })) as { id: string };
    const response = await example(actAs, { '<key>': key });
    t.match(
      JSON.parse(response),
      { request: 'GET /shipments', operates_on: ada.id, caller: id },
      'your API is told for whom',
    );
    await eventually(
      async () => Number(await example('docker compose -f FILE exec -T redis redis-cli dbsize')) > 0,
      { everyMs: 500 },
    );
    t.pass('facts are in Redis');
    const journals = await example(
      'docker compose -f FILE exec -T gateway ls /var/lib/tenancy-gateway/usage',
    );
    t.not(journals, '', 'usage is journaled, on the volume: nothing else can be written to');
    const published = (await list('container', '{{.Ports}}')).flatMap(
      (ports) => ports.match(/\S+->\S+/g) ?? [],
    );
    t.same(published, [`127.0.0.1:${port}->8080/tcp`], 'the gateway is the only way in, from this machine');

    await example('docker compose -f FILE stop gateway');
    const [gateway] = await list('container', '{{.ID}}', '--filter label=com.docker.compose.service=gateway');
    t.equal(
      (await run(t, `docker inspect --format '{{.State.ExitCode}}' ${gateway}`)).trim(),
      '0',
      'drained',
    );
    await example(down);
    for (const [kind, name] of [
      ['container', '{{.Names}}'],
      ['volume', '{{.Name}}'],
      ['network', '{{.Name}}'],
    ] as const)
      t.same(await list(kind, name), [], `no ${kind} is left`);
  },
);

/** The commands of the file's first comment, in its order. */
function documented(): string[] {
  return [...readText(file).matchAll(/^# {3}(\S.*)$/gm)].map(([, command = '']) => command);
}

/** A project, a port and an image of this test's own, so that it meets none of a person who tries the example. */
async function setUp(t: Test) {
  const port = await unusedPort();
  const project = `tenancy-gateway-test-${port}`;
  const own = join(tempFolder(t), 'own.yaml');
  writeFileSync(own, `services: { gateway: { image: '${project}', build: { network: '${buildNetwork}' } } }`);
  const example = (command = '', values: Readonly<Record<string, string>> = {}): Promise<string> => {
    const filled = Object.entries(values).reduce((text, [name, value]) => text.replace(name, value), command);
    const ours = filled
      .replace(/^docker compose -f \S+/, `docker compose -p ${project} -f ${file} -f ${own}`)
      .replace('127.0.0.1:8080', `127.0.0.1:${port}`);
    return run(t, ours, { GATEWAY_PORT: String(port) });
  };
  const list = async (kind: string, format: string, more = ''): Promise<string[]> => {
    const all = kind === 'container' ? '--all' : '';
    const filter = `--filter label=com.docker.compose.project=${project} ${more}`;
    const text = await run(t, `docker ${kind} ls ${all} ${filter} --format '${format}'`);
    return text.split('\n').filter((line) => line !== '');
  };
  t.teardown(async () => {
    // What the services said is of use only where something failed.
    if (!t.passing()) console.error(await example('docker compose -f FILE logs --no-color --tail 50'));
    await example('docker compose -f FILE down --volumes --remove-orphans');
    await run(t, `docker image rm --force ${project}`);
  });
  return { port, example, list };
}
