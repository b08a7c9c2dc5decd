#!/usr/bin/env node
// @ts-check
/**
 * `node scripts/chart.mjs [--check]`: writes what the chart takes from elsewhere: the table of values in its README from
 * values.yaml, and the shape of `config` in values.schema.json from config/gateway.schema.json. With --check it only
 * says whether that was forgotten.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { chartConfigSchema } from './chart/config-schema.mjs';
import { valuesTable } from './chart/values-table.mjs';
import { inProject } from './lib/project.mjs';
import { fail, say } from './lib/say.mjs';

const CHART = 'helm/tenancy-gateway';
const BETWEEN_MARKS = /(?<=<!-- values -->\n)[\s\S]*(?=<!-- end of values -->)/;

try {
  const written = [
    [`${CHART}/README.md`, readme()],
    [`${CHART}/values.schema.json`, await valuesSchema()],
  ].filter(([file = '', text = '']) => read(file) !== text);

  for (const [file = '', text = ''] of written) {
    if (process.argv.includes('--check'))
      throw new Error(`${file} is out of date: run \`node scripts/chart.mjs\`.`);
    writeFileSync(inProject(file), text);
    say(`Wrote ${file}.`);
  }
} catch (error) {
  fail(error);
}

function readme() {
  const table = valuesTable(read(`${CHART}/values.yaml`));
  return read(`${CHART}/README.md`).replace(BETWEEN_MARKS, () => `\n${table}\n\n`);
}

async function valuesSchema() {
  const file = `${CHART}/values.schema.json`;
  const schema = JSON.parse(read(file));
  schema.properties.config = chartConfigSchema(JSON.parse(read('config/gateway.schema.json')));
  const options = await resolveConfig(inProject(file));
  return format(JSON.stringify(schema), { ...options, parser: 'json', objectWrap: 'collapse' });
}

/** @param {string} file */
function read(file) {
  return readFileSync(inProject(file), 'utf8');
}
