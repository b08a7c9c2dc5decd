import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { allKeys, type SchemaNode } from '../../src/config/schema.ts';

/** `UPDATE_DOCS=1 npm test -- test/docs/configuration.test.ts` writes the list of keys anew. */
const update = process.env['UPDATE_DOCS'] === '1';
const page = new URL('../../docs/configuration.md', import.meta.url);
const marks = /(<!-- keys:.*?-->\n)([^]*)(<!-- \/keys -->)/;

t.test('docs/configuration.md documents every key: variable, default, range and meaning', (t) => {
  const expected = `\n${sections().join('\n')}\n\n`;
  const text = readFileSync(page, 'utf8');
  if (update)
    writeFileSync(
      page,
      text.replace(marks, (_, start, __, end) => `${start}${expected}${end}`),
    );
  t.equal(marks.exec(readFileSync(page, 'utf8'))?.[2], expected);
  t.end();
});

t.test('every key of the schema says what it means', (t) => {
  for (const { path, node } of allKeys()) t.match(node.description, /\S.*[.:]$/, path.join('.'));
  t.end();
});

/** A heading for each key at the top, what it holds below; what routes share stands once, at `route_defaults`. */
function sections(): string[] {
  const lines: string[] = [];
  for (const { path, node } of allKeys()) {
    const [top = '', second] = path;
    if (top === 'routes' && second !== undefined && second !== 'prefix' && second !== 'upstream') continue;
    if (second === undefined) {
      lines.push('', `### \`${top}\`${variable(node)}`, '', `${node.description}${facts(node)}`, '');
      if (top === 'routes') lines.push('Every key of `route_defaults`, and:', '');
    } else {
      const name = path.join('.').replace(/^routes\./, 'routes[].');
      lines.push(`- \`${name}\`${variable(node)}: ${node.description}${facts(node)}`);
    }
  }
  // A key at the top that holds nothing leaves an empty line, and so does the next heading.
  return lines
    .join('\n')
    .trim()
    .replaceAll(/\n{3,}/g, '\n\n')
    .split('\n');
}

function variable(node: SchemaNode): string {
  return node.env === undefined ? '' : ` [\`${node.env}\`]`;
}

/** Default and range. */
function facts(node: SchemaNode): string {
  const parts: string[] = [];
  if (node.enum !== undefined) parts.push(`One of ${node.enum.map((value) => `\`${value}\``).join(', ')}.`);
  if (node.minimum !== undefined && node.maximum !== undefined)
    parts.push(`From ${node.minimum} to ${node.maximum}.`);
  const isSection = typeof node.default === 'object';
  if (node.default !== undefined && !isSection)
    parts.push(`Default: \`${JSON.stringify(node.default).replaceAll('"', '')}\`.`);
  return parts.map((part) => ` ${part}`).join('');
}
