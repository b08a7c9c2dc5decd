/** The OpenAPI documents, for tests that hold responses against them. */
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { HttpResponse } from './http-client.ts';

export type Json = Readonly<Record<string, unknown>>;

/** One of the two documents. */
export interface OpenApi {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly Json[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly examples: Json }>> };
  readonly responses: Readonly<Record<string, Json>>;
}

interface ResponseObject {
  readonly headers: Readonly<Record<string, Json>>;
  /** Absent if there is no body. */
  readonly content?: Readonly<Record<string, { readonly schema: Json; readonly examples: Json }>>;
}

/** An operation with all that leads to it. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
  /** Which API it is of. */
  readonly api: 'parents' | 'operators';
  /** Whether it has a body; an example of it. */
  readonly body: Json | undefined;
  /** Statuses, each with its codes; none where it is a success. */
  readonly outcomes: readonly (readonly [status: number, code: string | null])[];
  /** What is wrong with a response, by the document; empty where nothing is. */
  readonly faultsOf: (response: HttpResponse) => readonly string[];
}

/** Reads a JSON file of the project. */
function readDocument(file: string): OpenApi {
  return JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')) as OpenApi;
}

const parentDocument = readDocument('src/generated/sub-accounts.json');
const operatorDocument = readDocument('src/generated/operator.json');

/** Every operation of both documents. */
export function documentedOperations(): readonly Operation[] {
  return [...operationsOf(parentDocument, 'parents'), ...operationsOf(operatorDocument, 'operators')];
}

function operationsOf(document: OpenApi, api: Operation['api']): readonly Operation[] {
  const resolve = (value: Json): Json => resolved(document, value);
  const validatorOf = validators(document);
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): Operation => {
      const content = operation.requestBody?.content['application/json'];
      const responses = new Map(
        Object.entries(operation.responses).map(([status, response]) => [
          Number(status),
          resolve(response) as unknown as ResponseObject,
        ]),
      );
      return {
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        api,
        body: content && (resolve(Object.values(content.examples)[0] as Json)['value'] as Json),
        outcomes: [...responses].flatMap(([status, { content }]) => {
          const codes = codesOf(content);
          return (codes.length === 0 ? [null] : codes).map((code) => [status, code] as const);
        }),
        faultsOf: (response) => {
          const described = responses.get(response.status);
          if (described === undefined) return [`status ${response.status} is not described`];
          return [
            ...headerFaults(described, response, resolve),
            ...bodyFaults(described, response, validatorOf),
          ];
        },
      };
    }),
  );
}

function codesOf(content: ResponseObject['content']): readonly string[] {
  const schema = content?.['application/problem+json']?.schema as
    { readonly properties: { readonly code: { readonly enum: readonly string[] } } } | undefined;
  return schema?.properties.code.enum ?? [];
}

/** What belongs to HTTP and to the connection, on any response. */
const usual = new Set([
  'content-type',
  'content-length',
  'connection',
  'keep-alive',
  'date',
  // The rest is for responses with secrets, of which the document says so.
  'cache-control',
  'transfer-encoding',
]);

function headerFaults(
  { headers }: ResponseObject,
  response: HttpResponse,
  resolve: (value: Json) => Json,
): readonly string[] {
  const described = new Map(
    Object.entries(headers).map(([name, header]) => [name.toLowerCase(), resolve(header)]),
  );
  const missing = [...described].filter(
    ([name, header]) => header['required'] === true && response.headers[name] === undefined,
  );
  // Once the caller is known, rejections say whom they are about, too.
  const rejectedToo = response.status >= 400 ? ['x-service-resolved-tenant', 'vary'] : [];
  const more = Object.keys(response.headers).filter(
    (name) => !usual.has(name) && !described.has(name) && !rejectedToo.includes(name),
  );
  return [
    ...missing.map(([name]) => `the header ${name} is missing`),
    ...more.map((name) => `the header ${name} is not described`),
  ];
}

function bodyFaults(
  { content }: ResponseObject,
  response: HttpResponse,
  validatorOf: (schema: Json) => ValidateFunction,
): readonly string[] {
  if (content === undefined) return response.text === '' ? [] : ['there is a body'];
  const type = response.headers['content-type']?.split(';', 1)[0] ?? '';
  const described = content[type];
  if (described === undefined) return [`the content type ${type} is not described`];
  if (type === 'text/csv' || type === 'text/event-stream') return [];
  const validate = validatorOf(described.schema);
  return validate(response.body)
    ? []
    : (validate.errors ?? []).map(
        ({ instancePath, message, params }) =>
          `${instancePath || 'the body'} ${message} ${JSON.stringify(params)}`,
      );
}

/** Responses may have more members in a later version; here what is not described is a fault. */
function validators(document: OpenApi): (schema: Json) => ValidateFunction {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    formats: { uuid, 'date-time': dateTime, date, uri },
  });
  const schemas = document.components['schemas'] as Readonly<Record<string, Json>>;
  const closed = Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      name === 'Problem' || schema['properties'] === undefined
        ? schema
        : { ...schema, unevaluatedProperties: false },
    ]),
  );
  const $id = 'https://gateway.example/document';
  ajv.addSchema({ $id, components: { schemas: closed } });
  return (schema) => ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', `"${$id}#/`)) as Json);
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const date = /^\d{4}-\d{2}-\d{2}$/;
const uri = /^[a-z]+:/;

function resolved(document: OpenApi, value: Json): Json {
  const ref = value['$ref'];
  if (typeof ref !== 'string') return value;
  const [, , kind = '', name = ''] = ref.split('/');
  return document.components[kind]?.[name] as Json;
}
