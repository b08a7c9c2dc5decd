import t from 'tap';
import { readFileSync } from 'node:fs';
import { parts } from '../../e2e/clients/matrix.ts';
import { pinnedVersions } from '../../e2e/clients/tools.ts';

const page = readFileSync(new URL('../../../docs/clients.md', import.meta.url), 'utf8');

t.test('docs/clients.md has a table for each kind of client, with every client and every case', async (t) => {
  for (const { title, clients, cases } of parts) {
    const [header = [], , ...rows] = tableUnder(title);
    t.same(header, ['client', 'version', ...cases.map((one) => one.title)], title);
    t.same(
      rows.map(([client]) => client),
      clients.map(({ name }) => name),
      `${title}: as \`npm run clients -- --write-docs\` has them`,
    );
  }
});

t.test('every case of the page is done, or has a note that says why it is not for this client', async (t) => {
  for (const { title, clients, cases } of parts) {
    const [, , ...rows] = tableUnder(title);
    for (const [client = '', , ...cells] of rows) {
      const { without = {} } = clients.find(({ name }) => name === client) ?? {};
      const wanted = cases.map(({ id }) => (without[id] === undefined ? 'yes' : noteOf(without[id])));
      t.same(cells, wanted, client);
    }
  }
});

t.test('the page names the versions that the script installs', async (t) => {
  const versions = pinnedVersions();
  t.ok(versions.length >= 6);
  for (const version of versions) t.ok(page.includes(` ${version}, `), version);
});

function tableUnder(title: string): string[][] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? '';
  return [...section.matchAll(/^\| (.+) \|$/gm)].map(([, cells = '']) => cells.split(' | '));
}

/** The cell of a case that is left out: a dash and the number of its note. */
function noteOf(why: string): string {
  const [, number] = page.match(new RegExp(`^(\\d+)\\. ${why}\\.$`, 'm')) ?? [];
  return `– (${number})`;
}
