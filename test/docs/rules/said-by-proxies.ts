import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { saidByProxies } from '../../../src/domain/said-by-proxies.ts';

const page = new URL('../../../docs/upstreams.md', import.meta.url);
const table = /(<!-- said by proxies:.*?-->\n)([^]*)(<!-- \/said by proxies -->)/;
const update = process.env['UPDATE_DOCS'] === '1';

t.test('docs/upstreams.md has every header that only a trusted proxy may send', async (t) => {
  const rows = Object.entries(saidByProxies).map(
    ([subject, names]) => `| ${subject} | ${names.map((name) => `\`${name}\``).join(' ')} |\n`,
  );
  const text = readFileSync(page, 'utf8');
  const expected = text.replace(
    table,
    (_, start, __, end) => `${start}| about | names |\n|---|---|\n${rows.join('')}${end}`,
  );
  if (update) writeFileSync(page, expected);
  t.match(text, table);
  t.equal(readFileSync(page, 'utf8'), expected);
});
