import { challengesOf, type AuthorizationScheme } from '../../domain/authorization.ts';
import { usualKeyPrefix } from '../../domain/api-key.ts';
import { headerNames } from '../../domain/header-names.ts';
import { usualTypeBase } from '../../http/problem-body.ts';

/** Configurable names that occur in the documents. */
export interface Named {
  /** Prefix of headers, such as `X-Service-`. */
  readonly headerPrefix: string;
  /** Schemes in which `Authorization` can carry API keys. */
  readonly schemes: readonly AuthorizationScheme[];
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
  const document = JSON.parse(renamed) as Document;
  if ('apiKey' in document.components.securitySchemes) addCredentials(document, named);
  return JSON.stringify(withTitle(document, named.title));
}

interface Document {
  readonly info: Readonly<Record<string, unknown>>;
  readonly components: {
    readonly securitySchemes: Record<string, object>;
    readonly headers: Record<string, object>;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  security?: readonly Readonly<Record<string, readonly string[]>>[];
}

/**
 * Adds a security scheme for each further way to send a parent's key. Not for the operator API, because operators send
 * their tokens only as `Bearer`.
 */
function addCredentials({ components, paths }: Document, { schemes, apiKeyHeaders }: Named): void {
  const further = [
    ...schemes.flatMap((scheme) => (scheme === 'Bearer' ? [] : [securityScheme(scheme)])),
    ...apiKeyHeaders.map(
      (name, i) => [`apiKeyHeader${i + 1}`, { type: 'apiKey', in: 'header', name }] as const,
    ),
  ];
  if (further.length === 0) return;
  Object.assign(components.securitySchemes, Object.fromEntries(further));
  for (const path of Object.values(paths))
    for (const operation of Object.values(path)) {
      const [{ apiKey: scopes = [] } = {}] = operation.security ?? [];
      operation.security = [{ apiKey: scopes }, ...further.map(([name]) => ({ [name]: scopes }))];
    }
  // Parsers join several headers of one name with a comma.
  const challenges = challengesOf(schemes).join(', ');
  const header = components.headers['WwwAuthenticate'];
  components.headers['WwwAuthenticate'] = {
    ...header,
    schema: { type: 'string', const: challenges },
    example: challenges,
  };
}

/**
 * Returns the name and the description of a scheme besides `Bearer`. OpenAPI and its tools know `Basic`. They do not know
 * `Token` and `ApiKey`, which are therefore described as a header.
 */
function securityScheme(scheme: AuthorizationScheme): readonly [string, object] {
  if (scheme === 'Basic')
    return [
      'apiKeyBasic',
      {
        type: 'http',
        scheme: 'basic',
        description: 'The same key as user name with an empty password, or as password.',
      },
    ];
  const description = `The same key behind the word \`${scheme}\` and a space.`;
  return [`apiKey${scheme}`, { type: 'apiKey', in: 'header', name: 'Authorization', description }];
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
