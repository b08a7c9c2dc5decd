/** Checks manifests as an API server would: by its own OpenAPI document, unknown fields rejected. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { schemaFiles, schemaFolder } from './chart-tools.ts';
import type { Manifest } from './manifest.ts';

/** Versions of Kubernetes whose schemas are here, such as `v1.36.3`. */
export const kubernetesVersions: readonly string[] = schemaFiles.flatMap((file) =>
  [...file.matchAll(/^kubernetes-(.*)\.json$/g)].map(([, version = '']) => version),
);

/** Says everything that is wrong with a manifest; an unknown kind is wrong, too. */
export type Check = (manifest: Manifest) => readonly string[];

interface Schema {
  [keyword: string]: unknown;
  type?: string;
  format?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
}

export function kubernetesCheck(version: string): Check {
  const { definitions } = readJson(`kubernetes-${version}.json`) as { definitions: Record<string, Schema> };
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  const strict = Object.entries(definitions).map(([name, schema]) => [name, beStrict(schema)]);
  ajv.addSchema({ $id: 'kubernetes', definitions: Object.fromEntries(strict) as Record<string, Schema> });

  const references = new Map<string, object>(customResources());
  for (const [name, schema] of Object.entries(definitions))
    for (const { group, version: v, kind } of schema['x-kubernetes-group-version-kind'] ?? [])
      references.set(`${group ? `${group}/` : ''}${v} ${kind}`, { $ref: `kubernetes#/definitions/${name}` });

  const compiled = new Map<string, ValidateFunction>();
  return (manifest) => {
    const type = `${manifest.apiVersion} ${manifest.kind}`;
    const schema = references.get(type);
    if (!schema) return [`${type}: Kubernetes ${version} has no such kind`];
    const validate = compiled.get(type) ?? ajv.compile(schema);
    compiled.set(type, validate);
    const { name } = manifest.metadata;
    validate(manifest);
    return (validate.errors ?? []).map((error) => `${type} ${name}${describe(error)}`);
  };
}

function describe({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath} ${message} ${JSON.stringify(params)}`;
}

/** Kinds of the Gateway API and the Prometheus operator, from their definitions. */
function* customResources(): Generator<[string, object]> {
  interface Definition {
    spec: {
      group: string;
      names: { kind: string };
      versions: { name: string; schema: { openAPIV3Schema: Schema } }[];
    };
  }
  for (const file of schemaFiles.filter((name) => name.endsWith('.yaml'))) {
    const { spec } = parse(readFileSync(new URL(file, schemaFolder), 'utf8')) as Definition;
    for (const { name, schema } of spec.versions) {
      const root = beStrict(schema.openAPIV3Schema);
      // A definition says nothing about metadata; Kubernetes itself does.
      const metadata = { $ref: 'kubernetes#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };
      yield [
        `${spec.group}/${name} ${spec.names.kind}`,
        { ...root, properties: { ...root.properties, metadata } },
      ];
    }
  }
}

/** The schema with unknown fields rejected, and with what OpenAPI cannot say: numbers where text is declared. */
function beStrict(schema: Schema): Schema {
  if (schema.format === 'int-or-string' || schema['x-kubernetes-int-or-string'] === true)
    return { type: ['integer', 'string'] as never };
  const strict = { ...schema };
  // Go's regular expressions know flags where JavaScript's do not.
  if (typeof schema['pattern'] === 'string' && schema['pattern'].includes('(?i)')) delete strict['pattern'];
  if (schema.items) strict.items = beStrict(schema.items);
  if (typeof schema.additionalProperties === 'object')
    strict.additionalProperties = beStrict(schema.additionalProperties);
  if (schema.properties) {
    const children = Object.entries(schema.properties).map(([key, child]) => [key, beStrict(child)]);
    strict.properties = Object.fromEntries(children) as Record<string, Schema>;
    if (schema['x-kubernetes-preserve-unknown-fields'] !== true) strict.additionalProperties ??= false;
  }
  return strict;
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(new URL(file, schemaFolder), 'utf8'));
}
