import { requestHeaders, responseHeaders } from './headers.ts';
import { operation, securityOf } from './operation.ts';
import { codesOf, ProblemResponses } from './problems.ts';
import { routesOf } from './routes.ts';
import { Schemas } from './schemas.ts';
import { operatorApi, parentApi, securitySchemes } from './apis.ts';
import { Examples } from './examples.ts';
import { folder, Texts } from './texts.ts';
import type { Api, Json, OperationText } from './types.ts';
import { version } from './version.ts';

interface Context {
  readonly texts: Texts;
  readonly faults: string[];
}

/**
 * The OpenAPI documents of the endpoints for parents and of the operator API.
 *
 * @throws Error that names everything that routes have and texts lack, and the other way round, what two subjects have, and
 *   examples that their schemas reject
 */
export async function openApiDocuments(): Promise<{ readonly parents: Json; readonly operators: Json }> {
  const faults: string[] = [];
  const texts = new Texts(faults);
  // A text of two subjects would have further faults.
  report(faults);
  const documents = {
    parents: await documentOf(parentApi, { texts, faults }),
    operators: await documentOf(operatorApi, { texts, faults }),
  };
  texts.noteUnused();
  report(faults);
  return documents;
}

/** Throws the faults, each of them once: both documents have some schemas. */
function report(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(`OpenAPI: ${[...new Set(faults)].join('\n')}`);
}

async function documentOf(api: Api, { texts, faults }: Context): Promise<Json> {
  const { operations } = texts.ofApi(api);
  const routes = await routesOf(api);
  const described = routes.flatMap((route) => {
    const name = `${route.method} ${route.path}`;
    const entry = operations.get(name);
    // The types of the plugins' own app cannot require one.
    if (api.callers === 'parents' && route.scope === undefined)
      faults.push(`${name} has no scope, so every key of its parent could use it: add config.scope.`);
    if (entry === undefined) faults.push(`${name} has no text: add it to a file of ${folder}/.`);
    return entry === undefined ? [] : [{ name, route, entry, codes: codesOf(api, route, entry.value) }];
  });
  for (const name of operations.keys())
    if (!described.some((each) => each.name === name)) faults.push(`${name} has a text and no route.`);

  const schemas = new Schemas(texts, faults);
  for (const { name, route, entry } of described)
    addSchemas(schemas, name, route.schema, entry.value, faults);
  const problems = new ProblemResponses(described.map(({ codes }) => codes));
  const tools = { api, schemas, problems };
  const paths: Record<string, Json> = {};
  for (const { route, entry, codes } of described)
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operation(tools, route, entry, codes),
    };
  return {
    ...head(api),
    paths,
    components: components(api, paths, schemas, problems, { texts, faults }),
  };
}

function addSchemas(
  schemas: Schemas,
  name: string,
  schema: Awaited<ReturnType<typeof routesOf>>[number]['schema'],
  { request, responses }: OperationText,
  faults: string[],
): void {
  if ((request === undefined) !== (schema.body === undefined))
    faults.push(`${name}: its route has ${schema.body ? 'a' : 'no'} body, its text the contrary.`);
  if (request !== undefined && schema.body !== undefined) schemas.add(request, schema.body, false);
  for (const [status, body] of Object.entries(schema.response ?? {})) {
    const response = responses[Number(status)];
    if (response === undefined) faults.push(`${name}: its text lacks the status ${status}.`);
    else if (response[0] !== null) schemas.add(response[0], body, true);
  }
  for (const status of Object.keys(responses))
    if (schema.response?.[status] === undefined)
      faults.push(`${name}: its route lacks the status ${status}.`);
}

function head(api: Api): Json {
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
  { texts, faults }: Context,
): Json {
  const named = schemas.components();
  const examples = new Examples(named, faults);
  const { examples: ofBodies, links } = texts.ofApi(api);
  const security = securityOf(api);
  const text = JSON.stringify([paths, problems.responses]);
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
    examples: {
      ...examples.ofBodies(ofBodies, paths),
      ...sorted(examples.ofProblems(problems.examples)),
    },
    links: Object.fromEntries([...links].map(([name, { value }]) => [name, link(name, value)])),
  };
}

function link(name: string, parameters: Json): Json {
  return { operationId: name.charAt(0).toLowerCase() + name.slice(1), parameters };
}

function sorted(record: Readonly<Record<string, Json>>): Json {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
