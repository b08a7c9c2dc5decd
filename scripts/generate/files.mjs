// @ts-check
import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { schema } from '../../src/config/schema.ts';
import { inProject } from '../lib/project.mjs';
import { chartConfig } from './chart-config.mjs';
import { exampleFile } from './example-file.mjs';
import { functionNumber } from './function-number.mjs';
import { keyReference } from './key-reference.mjs';
import { surface } from './surface.ts';
import { valuesTable } from './values-table.mjs';

const CHART = 'helm/tenancy-gateway';

/**
 * Every file in git of which something is generated, as it should be. Prose around the marks stays as it is.
 * @param {import('./made.ts').Documents} documents
 */
export async function generatedFiles({ parents, operators }) {
  const values = JSON.parse(read(`${CHART}/values.schema.json`));
  values.properties.config = chartConfig(schema);
  const functions = await functionNumber();
  return [
    { file: 'surface.txt', text: surface([parents, operators]) },
    { file: 'config/gateway.yaml', text: exampleFile(schema) },
    between('keys', 'docs/configuration.md', keyReference()),
    await jsonFile(`${CHART}/values.schema.json`, values),
    await jsonFile(functions.file, functions.value),
    between('values', `${CHART}/README.md`, valuesTable(read(`${CHART}/values.yaml`))),
  ];
}

/**
 * A page with `generated` between its marks, `<!-- NAME: … -->` and `<!-- /NAME -->`.
 * @param {string} name
 * @param {string} file
 * @param {string} generated
 */
function between(name, file, generated) {
  const marks = new RegExp(`(?<=<!-- ${name}: [^>]*-->\n)[^]*(?=<!-- /${name} -->)`);
  const page = read(file);
  if (!marks.test(page))
    throw new Error(`${file} lacks the marks <!-- ${name}: … --> and <!-- /${name} -->.`);
  return { file, text: page.replace(marks, () => `\n${generated}\n\n`) };
}

/**
 * @param {string} file
 * @param {object} value
 */
async function jsonFile(file, value) {
  const options = await resolveConfig(inProject(file));
  const text = await format(JSON.stringify(value), { ...options, parser: 'json', objectWrap: 'collapse' });
  return { file, text };
}

/** @param {string} file */
function read(file) {
  return readFileSync(inProject(file), 'utf8');
}
