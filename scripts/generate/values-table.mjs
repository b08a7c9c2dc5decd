// @ts-check
import { isMap, parseDocument } from 'yaml';

/** @typedef {{ key: string, value: string, comment: string }} Row */

/**
 * A Markdown table of values.yaml: a row for every value, with the comment above it. A section's comment becomes a
 * row without a default.
 * @param {string} text
 */
export function valuesTable(text) {
  const rows = rowsOf(parseDocument(text).contents, '');
  return [
    '| Value | Default | What it does |',
    '| --- | --- | --- |',
    ...rows.map(({ key, value, comment }) => `| \`${key}\` | ${value} | ${comment} |`),
  ].join('\n');
}

/**
 * @param {unknown} map
 * @param {string} parent
 * @returns {Row[]}
 */
function rowsOf(map, parent) {
  if (!isMap(map)) return [];
  return map.items.flatMap(({ key, value }, index) => {
    const node = /** @type {{ value: string, commentBefore?: string }} */ (key);
    // The parser hangs the first key's comment on the map.
    const comment = (index === 0 ? map.commentBefore : undefined) ?? node.commentBefore ?? '';
    const path = parent + node.value;
    const row = { key: path, value: '', comment: oneLine(comment) };
    if (isMap(value) && !value.flow) {
      const children = rowsOf(value, `${path}.`);
      return comment ? [row, ...children] : children;
    }
    if (!comment) throw new Error(`values.yaml: ${path} has no comment.`);
    const shown = JSON.stringify(/** @type {{ toJSON(): unknown }} */ (value).toJSON());
    return [{ ...row, value: `\`${shown}\`` }];
  });
}

/** @param {string} comment */
function oneLine(comment) {
  return comment
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
    .trim()
    .replaceAll('|', '\\|');
}
