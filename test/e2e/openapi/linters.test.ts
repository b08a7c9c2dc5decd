// class: contract
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import { runTool, without } from '../../support/openapi-tools.ts';

const documents = ['sub-accounts', 'operator'].map((name) => `src/generated/${name}.json`);
const firstDocument = readFileSync(new URL(`../../../${documents[0]}`, import.meta.url), 'utf8');

/** The first document, with an operation that has no responses. */
function damaged(folder: string): string {
  const document = JSON.parse(firstDocument) as { paths: { '/v1/sub-accounts': { get: object } } };
  document.paths['/v1/sub-accounts'].get = { operationId: 'listSubAccounts' };
  const file = join(folder, 'damaged.json');
  writeFileSync(file, JSON.stringify(document));
  return file;
}

t.test('Redocly finds nothing in the documents', { skip: without('redocly') }, async (t) => {
  const lint = (...files: string[]) => runTool('redocly', ['lint', '--config=redocly.yaml', ...files]);
  const { status, output } = lint(...documents);
  t.equal(status, 0, output);
  t.notMatch(output, /\bwarning(?!: Node)/i);
  t.not(lint(damaged(t.testdir())).status, 0, 'one with faults is told');
});

t.test('Spectral finds nothing in the documents', { skip: without('spectral') }, async (t) => {
  const lint = (...files: string[]) =>
    runTool('spectral', ['lint', '--ruleset=.spectral.yaml', '--fail-severity=hint', ...files]);
  const { status, output } = lint(...documents);
  t.equal(status, 0, output);
  t.not(lint(damaged(t.testdir())).status, 0, 'one with faults is told');
});

t.test(
  'nothing breaks those who go by the documents of the last release',
  { skip: without('oasdiff') },
  async (t) => {
    const breaking = (base: string, revision: string) =>
      runTool('oasdiff', ['breaking', '--fail-on=ERR', base, revision]);
    // A folder with the documents that a release has. surface.txt is compared in any case (`npm run check`).
    const released = process.env['RELEASED_DOCUMENTS'];
    if (released === undefined) t.comment('RELEASED_DOCUMENTS names no release to compare with');
    else
      for (const document of documents) {
        const { status, output } = breaking(join(released, basename(document)), document);
        t.equal(status, 0, output);
      }
    t.not(breaking(`${documents[0]}`, damaged(t.testdir())).status, 0, 'one that does is told');
  },
);
