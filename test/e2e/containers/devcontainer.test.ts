// class: built
/** The image of `.devcontainer`, built and used by a container engine. What can be said without one is in test/docs/rules/repository.ts. */
import t from 'tap';
import { fileURLToPath } from 'node:url';
import { readText } from '../../support/helm.ts';
import { unusedPort } from '../../servers/unused-port.mjs';
import { buildNetwork, engine, run, withoutImages } from './engine.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const [, base = ''] = /^FROM (.+)$/m.exec(readText('.devcontainer/Dockerfile')) ?? [];

t.test(
  'in the image of .devcontainer npm test finds Node.js, PostgreSQL and Redis',
  { skip: await withoutImages(t, [base]) },
  async (t) => {
    t.comment(engine ?? '');
    const image = `tenancy-gateway-test-${await unusedPort()}`;
    await run(t, `docker build --network ${buildNetwork} --tag ${image} .devcontainer`);
    t.teardown(() => run(t, `docker image rm --force ${image}`));
    const inside = (command: string): Promise<string> =>
      run(t, `docker run --rm --network none --user node --volume '${root}:/project:ro' ${image} ${command}`);

    t.match(await inside('node --version'), /^v24\./);
    t.match(await inside('postgres --version'), /\(PostgreSQL\) 15\./);
    t.match(await inside('redis-server --version'), /v=7\./);

    // A copy, to which its user may write; this machine's packages, so that no registry is needed.
    const copy =
      'tar -c --exclude ./.git --exclude ./.cache --exclude ./dist --exclude ./node_modules . | tar -x -C ~/copy';
    const prepare = `mkdir ~/copy && cd /project && ${copy} && cd ~/copy && ln -s /project/node_modules . && touch -d 2000-01-01 package-lock.json`;
    const tested = await inside(
      `sh -c '${prepare} && npm test -- test/support/postgres.test.ts test/support/redis.test.ts'`,
    );
    t.match(tested, /2 test files, \d+ assertions: \d+ passed, 0 failed \(/);
  },
);
