// @ts-check
import { stringify } from 'yaml';
import { keysOf } from '../../src/config/schema.ts';

/** @typedef {import('../../src/config/schema.ts').SchemaNode} SchemaNode */

const WIDTH = 120;

const HEAD = `# Every key of Tenancy Gateway with its default. Copy what you change; leave the rest out.
#
# The environment variable CONFIG names this file. Variables override it: their names stand in brackets.
# Check a file, with every fault at once:  tenancy-gateway config check <file>
# Durations are milliseconds (…_ms), sizes are bytes (…_bytes). More on every key: docs/configuration.md
#
# Written by \`npm run generate\` from src/config/gateway-file.ts.
`;

/**
 * A configuration file that says nothing but the defaults, with a comment above every key. What has no default stands
 * empty, which means the same as left out; examples stand in comments.
 * @param {SchemaNode} schema
 */
export function exampleFile(schema) {
  return `${HEAD}\n${[...keysOf(schema)].map(([name, node]) => keyLines(name, node, '').join('\n')).join('\n\n')}\n`;
}

/**
 * @param {string} name
 * @param {SchemaNode} node
 * @param {string} indent
 * @returns {string[]}
 */
function keyLines(name, node, indent) {
  const [example] = node.examples ?? [];
  const optional = node.properties !== undefined && node.default === undefined;
  const children = [...keysOf(node)].flatMap(([key, child]) => keyLines(key, child, `${indent}  `));
  return [
    ...comment(node, indent),
    ...(optional ? [] : [`${indent}${name}:${valueOf(node)}`]),
    ...(example === undefined
      ? []
      : commentedOut(optional ? { [name]: example } : example, indent, optional)),
    ...(optional ? [] : children),
  ];
}

/** @param {SchemaNode} node */
function valueOf(node) {
  if (node.properties !== undefined || node.default === undefined) return '';
  return ` ${stringify(node.default, { singleQuote: true, collectionStyle: 'flow', flowCollectionPadding: false }).trim()}`;
}

/**
 * @param {SchemaNode} node
 * @param {string} indent
 */
function comment({ description = '', enum: values, env }, indent) {
  const explained = values?.every((value) => description.includes(`\`${value}\``)) ?? true;
  const text = [
    withoutMarkdown(description),
    ...(explained ? [] : [`One of ${values?.join(', ')}.`]),
    ...(env === undefined ? [] : [`[${env}]`]),
  ].join(' ');
  return wrap(text, WIDTH - indent.length - 2).map((line) => `${indent}# ${line}`);
}

/**
 * Text between backticks as it is, or in quotes where it could be taken for words of the sentence.
 * @param {string} description
 */
function withoutMarkdown(description) {
  return description.replaceAll(/`([^`]+)`/g, (_, code) =>
    /^[a-z]+$|^\/$| /.test(code) ? `"${code}"` : code,
  );
}

/**
 * An example as lines that hold once the `#` before them is gone.
 * @param {unknown} example
 * @param {string} indent
 * @param {boolean} withSpace between `#` and a key; the entries of a list are indented by one more
 */
function commentedOut(example, indent, withSpace) {
  return stringify(example)
    .trimEnd()
    .split('\n')
    .map((line) => `${indent}#${withSpace ? ' ' : '  '}${line}`);
}

/**
 * @param {string} text
 * @param {number} width
 */
function wrap(text, width) {
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
