import { requestHeaders, responseHeaders } from './headers.ts';
import { operation, securityOf } from './operation.ts';
import { codesOf, ProblemResponses } from './problems.ts';
import { routesOf } from './routes.ts';
import { Schemas } from './schemas.ts';
import { operatorApi, parentApi, securitySchemes } from './apis.ts';
import { operatorExamples, parentExamples } from './text/examples.ts';
import { memberTexts } from './text/members.ts';
import { schemaTexts } from './text/schemas.ts';
import type { Api, Json } from './types.ts';

interface Context {
  readonly version: string;
  readonly faults: string[];
  readonly used: Set<string>;
}

/**
 * The OpenAPI documents of the endpoints for parents and of the operator API.
 *
 * @param version of the gateway
 * @throws Error that names everything that routes have and texts lack, and the other way round
 */
export async function openApiDocuments(
  version: string,
): Promise<{ readonly parents: Json; readonly operators: Json }> {
  const faults: string[] = [];
  const used = new Set<string>();
  const documents = {
    parents: await documentOf(parentApi, parentExamples, { version, faults, used }),
    operators: await documentOf(operatorApi, operatorExamples, { version, faults, used }),
  };
  for (const name of [...Object.keys(memberTexts), ...Object.keys(schemaTexts)])
    if (!used.has(name)) faults.push(`There is a text of ${name} in text/, and nothing is called that.`);
  if (faults.length > 0) throw new Error(`OpenAPI: ${faults.join('\n')}`);
  return documents;
}

async function documentOf(
  api: Api,
  examples: Readonly<Record<string, unknown>>,
  { version, faults, used }: Context,
): Promise<Json> {
  const routes = await routesOf(api);
  const described = routes.flatMap((route) => {
    const name = `${route.method} ${route.path}`;
    const text = api.operations[name];
    // The types of the plugins' own app cannot require one.
    if (api.callers === 'parents' && route.scope === undefined)
      faults.push(`${name} has no scope, so every key of its parent could use it: add config.scope.`);
    if (text === undefined) faults.push(`${name} has no text: add it in scripts/generate/openapi/text/.`);
    return text === undefined ? [] : [{ name, route, text, codes: codesOf(api, route, text) }];
  });
  for (const name of Object.keys(api.operations))
    if (!described.some((each) => each.name === name)) faults.push(`${name} has a text and no route.`);

  const schemas = new Schemas(faults, used);
  for (const { name, route, text } of described) addSchemas(schemas, name, route.schema, text, faults);
  for (const [place, inner] of Object.entries(api.inner)) {
    const [outer = '', ...pointer] = place.split('/');
    schemas.addInner(outer, `/${pointer.join('/')}`, inner);
  }
  const problems = new ProblemResponses(described.map(({ codes }) => codes));
  const tools = { api, schemas, problems };
  const paths: Record<string, Json> = {};
  for (const { route, text, codes } of described)
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operation(tools, route, text, codes),
    };
  return {
    ...head(api, version),
    paths,
    components: components(api, paths, schemas, problems, examples, faults),
  };
}

function addSchemas(
  schemas: Schemas,
  name: string,
  schema: Awaited<ReturnType<typeof routesOf>>[number]['schema'],
  { request, responses }: Api['operations'][string],
  faults: string[],
): void {
  if ((request === undefined) !== (schema.body === undefined))
    faults.push(`${name}: its route has ${schema.body ? 'a' : 'no'} body, its text the contrary.`);
  if (request !== undefined && schema.body !== undefined) schemas.add(request, schema.body, false);
  for (const [status, body] of Object.entries(schema.response ?? {})) {
    const response = responses[Number(status)];
    if (response === undefined) faults.push(`${name}: its text lacks the status ${status}.`);
    else schemas.add(response[0], body, true);
  }
  for (const status of Object.keys(responses))
    if (schema.response?.[status] === undefined)
      faults.push(`${name}: its route lacks the status ${status}.`);
}

function head(api: Api, version: string): Json {
  return {
    openapi: '3.1.1',
    info: {
      title: api.title,
      version,
      description: api.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The gateway that serves this document.' }],
    tags: api.tags.map(([name, description]) => ({ name, description })),
  };
}

function components(
  api: Api,
  paths: Json,
  schemas: Schemas,
  problems: ProblemResponses,
  examples: Readonly<Record<string, unknown>>,
  faults: string[],
): Json {
  const named = schemas.components();
  const values = Object.entries(examples).map(([name, value]) => {
    const schema = named[name];
    if (schema === undefined) faults.push(`There is an example of ${name}, which is no schema.`);
    return [name, { summary: schema?.['description'], value }] as const;
  });
  const security = securityOf(api);
  const text = JSON.stringify([paths, problems.responses]);
  for (const [, name = ''] of JSON.stringify(paths).matchAll(/"#\/components\/examples\/(\w+)"/g))
    if (!(name in examples))
      faults.push(`${name} has no example: add it in scripts/generate/openapi/text/examples.ts.`);
  const onlyUsed = (kind: string, all: Readonly<Record<string, Json>>): Json =>
    Object.fromEntries(
      Object.entries(all).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)),
    );
  return {
    securitySchemes: { [security]: securitySchemes[security] },
    parameters: onlyUsed('parameters', requestHeaders),
    headers: onlyUsed('headers', responseHeaders),
    schemas: named,
    responses: sorted(problems.responses),
    examples: { ...Object.fromEntries(values), ...sorted(problems.examples) },
    links: api.links,
  };
}

function sorted(record: Readonly<Record<string, Json>>): Json {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
