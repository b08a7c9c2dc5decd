import { usualKeyPrefix } from '../../domain/api-key.ts';
import { headerNames } from '../../domain/header-names.ts';
import { usualTypeBase } from '../../http/problem-body.ts';

/** What the configuration calls things that the documents name. */
export interface Named {
  /** Of the headers, such as `X-Service-`. */
  readonly headerPrefix: string;
  /** Further headers that carry API keys. */
  readonly apiKeyHeaders: readonly string[];
  /** What new keys begin with. */
  readonly keyPrefix: string;
  /** What the `type` of a problem begins with. */
  readonly typeBase: string;
}

/**
 * A document with the names that this gateway has. It was written with those of a gateway without configuration.
 *
 * @param text an OpenAPI document, JSON
 */
export function described(text: string, { headerPrefix, keyPrefix, typeBase, apiKeyHeaders }: Named): string {
  const named = text
    .replaceAll(headerNames().prefix, () => headerPrefix)
    .replaceAll(`${usualKeyPrefix}_`, () => `${keyPrefix}_`)
    .replaceAll(usualTypeBase, () => JSON.stringify(typeBase).slice(1, -1));
  return JSON.stringify(withKeyHeaders(JSON.parse(named) as Document, apiKeyHeaders));
}

interface Document {
  readonly components: { readonly securitySchemes: Record<string, object> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  security?: readonly Readonly<Record<string, readonly string[]>>[];
}

/** Parents may send their keys in these headers, too; operators' tokens come in `Authorization` alone. */
function withKeyHeaders(document: Document, names: readonly string[]): Document {
  const { securitySchemes } = document.components;
  if (names.length === 0 || !('apiKey' in securitySchemes)) return document;
  const schemes = names.map((name, i) => [`apiKeyHeader${i + 1}`, name] as const);
  for (const [scheme, name] of schemes) securitySchemes[scheme] = { type: 'apiKey', in: 'header', name };
  for (const path of Object.values(document.paths))
    for (const operation of Object.values(path)) {
      const [{ apiKey: scopes = [] } = {}] = operation.security ?? [];
      operation.security = [{ apiKey: scopes }, ...schemes.map(([scheme]) => ({ [scheme]: scopes }))];
    }
  return document;
}
