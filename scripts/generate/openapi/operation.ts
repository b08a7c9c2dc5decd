import type { ProblemCode } from '../../../src/domain/problem.ts';
import { planNamePattern } from '../../../src/domain/limits/plan.ts';
import { headerNamesByComponent } from './headers.ts';
import { header, takesIdempotencyKey, type ProblemResponses } from './problems.ts';
import type { CollectedRoute } from './routes.ts';
import type { Schemas } from './schemas.ts';
import type { Entry } from './subjects.ts';
import type { Api, Json, OperationText } from './types.ts';

/** What operations are made with. */
export interface OperationTools {
  readonly api: Api;
  readonly schemas: Schemas;
  readonly problems: ProblemResponses;
}

/** Writes one operation. */
export function operation(
  { api, schemas, problems }: OperationTools,
  route: CollectedRoute,
  { value: text, file }: Entry<OperationText>,
  codes: readonly ProblemCode[],
): Json {
  const inQuery: InQuery = (name, schema) =>
    schemas.parameter(name, schema, `${route.method} ${route.path}`, file);
  const needed = route.scope ?? route.role;
  const need = route.scope === undefined ? 'role' : 'scope';
  const sentence = needed === undefined ? '' : `\n\nNeeds the ${need} \`${needed}\`.`;
  return {
    operationId: text.id,
    tags: [text.tag],
    summary: text.summary,
    description: text.description + sentence,
    security: [{ [securityOf(api)]: needed === undefined ? [] : [needed] }],
    parameters: parametersOf(api, route, text, inQuery),
    ...(text.request !== undefined && {
      requestBody: {
        required: true,
        content: { 'application/json': jsonContent(text.request) },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(text.responses).map(([status, response]) => [
          status,
          success(api, route, text, response),
        ]),
      ),
      ...problems.of(codes),
    },
  };
}

/** The name of the security scheme of an API. */
export function securityOf({ callers }: Api): 'apiKey' | 'operatorToken' {
  return callers === 'parents' ? 'apiKey' : 'operatorToken';
}

function success(
  api: Api,
  { method }: CollectedRoute,
  { headers = [], csv, events, links = [] }: OperationText,
  [schema, description]: readonly [string | null, string],
): Json {
  return {
    description,
    headers: {
      'X-Request-Id': header('RequestId'),
      ...(api.callers === 'parents' && { 'X-Service-Resolved-Tenant': header('ResolvedTenant') }),
      ...Object.fromEntries(headers.map((name) => [headerNamesByComponent[name], header(name)])),
    },
    ...(schema !== null && {
      content: {
        'application/json': jsonContent(schema),
        ...(csv && method === 'GET' && { 'text/csv': csvContent }),
      },
    }),
    ...(events && { content: { 'text/event-stream': eventContent } }),
    ...(links.length > 0 && {
      links: Object.fromEntries(links.map((name) => [name, { $ref: `#/components/links/${name}` }])),
    }),
  };
}

const csvContent: Json = {
  schema: {
    description: 'RFC 4180. The header row names the members of a JSON row, in their order.',
    type: 'string',
  },
};

const eventContent: Json = {
  schema: {
    description:
      'Server-Sent Events, as the HTML standard has them. The data of each event is a JSON object.',
    // Tools that know event streams check each event, and others the text as a whole.
    type: ['string', 'object'],
  },
};

function jsonContent(schema: string): Json {
  return {
    schema: { $ref: `#/components/schemas/${schema}` },
    examples: { [schema]: { $ref: `#/components/examples/${schema}` } },
  };
}

/** Describes a parameter of the query. */
type InQuery = (name: string, schema: Json) => Json;

function parametersOf(api: Api, route: CollectedRoute, text: OperationText, inQuery: InQuery): Json[] {
  const { params, querystring } = route.schema;
  const rename = (name: string): string => (name === 'owner_id' ? api.ownerId : name);
  const required = (querystring?.['required'] ?? []) as readonly string[];
  return [
    ...Object.entries((params?.['properties'] ?? {}) as Json).map(([name, schema]) => ({
      name: rename(name),
      in: 'path',
      required: true,
      ...inPath(rename(name), schema as Json, text),
    })),
    ...Object.entries((querystring?.['properties'] ?? {}) as Json).map(([name, schema]) => ({
      name,
      in: 'query',
      ...(required.includes(name) && { required: true }),
      ...inQuery(name, schema as Json),
    })),
    ...metadataFilter(inQuery, querystring),
    ...(api.callers === 'parents' ? [parameter('ActingTenant')] : []),
    ...(takesIdempotencyKey(route, text) ? [parameter('IdempotencyKey')] : []),
  ];
}

function inPath(name: string, schema: Json, { anyAccount }: OperationText): Json {
  const text = pathTexts[anyAccount && name === 'account_id' ? 'any_account_id' : name];
  if (text === undefined)
    throw new Error(`the path parameter ${name} has no text: add it to pathTexts in operation.ts`);
  const [description, more, example] = text;
  return { description, schema: { ...schema, ...more }, example };
}

const id = { format: 'uuid' };
const pathTexts: Readonly<Record<string, readonly [description: string, schema: Json, example: string]>> = {
  account_id: ['The id of the parent account.', id, '0197b7e0-4c9d-7a31-9d6e-2f6b8f7a1c11'],
  any_account_id: [
    'The id of the account: a parent or a sub-account.',
    id,
    '0197b7e0-4c9d-7a31-9d6e-2f6b8f7a1c11',
  ],
  sub_id: ['The id of the sub-account.', id, '0197b7e1-0f52-7c44-8a90-7b1d3c5e9f02'],
  key_id: ['The id of the key.', id, '0197b7e2-3c61-7e55-92a1-8c2e4d6f0a13'],
  plan_name: ['The name of the plan.', { pattern: planNamePattern }, 'gold'],
  event_id: ['The id of the event.', id, '019a0f3e-6c1d-7a40-8000-05c1d2e3f4a5'],
  session_id: ['The id of the session.', id, '019a0f3e-6c1d-7a40-8000-0a1b2c3d4e5f'],
  external_id: [
    'The parent’s own name for the sub-account, percent-encoded. `.` and `..` cannot be in a path.',
    { minLength: 1, maxLength: 255, pattern: '^[!-+\\--~]+$' },
    'ada',
  ],
};

/** `metadata[key]=value` is one parameter here, and a pattern of names in the route. */
function metadataFilter(inQuery: InQuery, querystring: Json | undefined): Json[] {
  const [pattern, ...more] = Object.entries((querystring?.['patternProperties'] ?? {}) as Json);
  if (pattern === undefined) return [];
  const [names, value] = pattern;
  const longest = /\{1,(\d+)\}/.exec(names)?.[1];
  if (more.length > 0 || !names.startsWith('^metadata\\[') || longest === undefined)
    throw new Error(`query parameters ${names} have no text: add them to operation.ts`);
  const schema = {
    type: 'object',
    propertyNames: { minLength: 1, maxLength: Number(longest) },
    additionalProperties: value,
  };
  return [
    {
      name: 'metadata',
      in: 'query',
      style: 'deepObject',
      explode: true,
      ...inQuery('metadata', schema),
      example: { tier: '1' },
    },
  ];
}

function parameter(name: string): Json {
  return { $ref: `#/components/parameters/${name}` };
}
