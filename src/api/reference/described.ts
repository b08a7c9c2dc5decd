import { usualKeyPrefix } from '../../domain/api-key.ts';
import { headerNames } from '../../domain/header-names.ts';
import { usualTypeBase } from '../../http/problem-body.ts';

/** Configurable names that occur in the documents. */
export interface Named {
  /** Prefix of headers, such as `X-Service-`. */
  readonly headerPrefix: string;
  /** Additional headers that can carry API keys. */
  readonly apiKeyHeaders: readonly string[];
  /** Prefix of new keys. */
  readonly keyPrefix: string;
  /** Start of the `type` of a problem. */
  readonly typeBase: string;
  /** Title of the document; `null` leaves it unchanged. */
  readonly title: string | null;
}

/**
 * Replaces the default names in a document with the configured ones.
 *
 * @param text OpenAPI document, as JSON
 */
export function described(text: string, named: Named): string {
  const { headerPrefix, keyPrefix, typeBase } = named;
  const renamed = text
    .replaceAll(headerNames().prefix, () => headerPrefix)
    .replaceAll(`${usualKeyPrefix}_`, () => `${keyPrefix}_`)
    .replaceAll(usualTypeBase, () => JSON.stringify(typeBase).slice(1, -1));
  const document = withKeyHeaders(JSON.parse(renamed) as Document, named.apiKeyHeaders);
  return JSON.stringify(withTitle(document, named.title));
}

interface Document {
  readonly info: Readonly<Record<string, unknown>>;
  readonly components: { readonly securitySchemes: Record<string, object> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  security?: readonly Readonly<Record<string, readonly string[]>>[];
}

/**
 * Adds a security scheme for each configured header that can carry a parent's key. Returns the document of the operator
 * API unchanged, because operators send their tokens only in `Authorization`.
 */
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

/**
 * Sets the configured title and removes the licence. The licence applies to the gateway, not to a service with a title
 * of its own. If no title is configured, the document stays unchanged.
 */
function withTitle(document: Document, title: string | null): Document {
  if (title === null) return document;
  const { license: _, ...info } = document.info;
  return { ...document, info: { ...info, title } };
}
