// @ts-check
import { allKeys } from '../../src/config/schema.ts';

/** @typedef {import('../../src/config/schema.ts').SchemaNode} SchemaNode */

/**
 * Every key of the configuration in Markdown: a heading for each key at the top, what it holds below. What routes share
 * stands once, at `route_defaults`.
 */
export function keyReference() {
  /** @type {string[]} */
  const lines = [];
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
    .replaceAll(/\n{3,}/g, '\n\n');
}

/** @param {SchemaNode} node */
function variable(node) {
  return node.env === undefined ? '' : ` [\`${node.env}\`]`;
}

/**
 * Default and range.
 * @param {SchemaNode} node
 */
function facts(node) {
  const parts = [];
  if (node.enum !== undefined) parts.push(`One of ${node.enum.map((value) => `\`${value}\``).join(', ')}.`);
  if (node.minimum !== undefined && node.maximum !== undefined)
    parts.push(`From ${node.minimum} to ${node.maximum}.`);
  const isEmpty = typeof node.default === 'object' && Object.keys(node.default ?? {}).length === 0;
  if (node.default !== undefined && !isEmpty)
    parts.push(`Default: \`${JSON.stringify(node.default).replaceAll('"', '')}\`.`);
  return parts.map((part) => ` ${part}`).join('');
}
