// @ts-check
import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { schema } from '../../src/config/schema.ts';
import { inProject } from '../lib/project.mjs';
import { apiPage } from './api-page/page.ts';
import { chartConfig } from './chart-config.mjs';
import { clientTypes, commandLineTypes, consoleTypes, operatorTypes } from './client-types.ts';
import { exampleFile } from './example-file.mjs';
import { functionSteps } from './function-steps.mjs';
import { keyReference } from './key-reference.mjs';
import { actingTenantComponents } from './openapi/acting-tenant.ts';
import { openApiDocuments } from './openapi/document.ts';
import { valuesTable } from './values-table.mjs';

const CHART = 'helm/tenancy-gateway';

/** Every file of which something is generated, as it should be. Prose around the marks stays as it is. */
export async function generatedFiles() {
  const values = JSON.parse(read(`${CHART}/values.schema.json`));
  values.properties.config = chartConfig(schema);
  const { version } = JSON.parse(read('package.json'));
  const { parents, operators } = await openApiDocuments(version);
  const documents = 'src/api/reference/documents';
  return [
    await jsonFile('config/gateway.schema.json', schema),
    { file: 'config/gateway.yaml', text: exampleFile(schema) },
    between('keys', 'docs/configuration.md', keyReference()),
    await jsonFile(`${CHART}/values.schema.json`, values),
    await jsonFile(`${documents}/sub-accounts.json`, parents),
    await jsonFile(`${documents}/operator.json`, operators),
    { file: 'docs/api.md', text: apiPage(read('docs/api.md'), { parents, operators }) },
    { file: 'src/client/types.ts', text: await clientTypes('src/client/types.ts', parents) },
    {
      file: 'src/cli/operator-types.ts',
      text: await operatorTypes('src/cli/operator-types.ts', operators, commandLineTypes),
    },
    {
      file: 'console/src/api/types.ts',
      text: await operatorTypes('console/src/api/types.ts', operators, consoleTypes),
    },
    await jsonFile('docs/openapi/acting-tenant.json', actingTenantComponents(version)),
    ...functionSteps(),
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
  return { file, text: await json(file, value) };
}

/**
 * @param {string} file
 * @param {object} value
 */
async function json(file, value) {
  const options = await resolveConfig(inProject(file));
  return format(JSON.stringify(value), { ...options, parser: 'json', objectWrap: 'collapse' });
}

/** @param {string} file */
function read(file) {
  return readFileSync(inProject(file), 'utf8');
}
