/** The parts of a document that the page shows. Documents are generated, and tests check their form. */
export interface Described {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Member>>>>;
}

/** A way to send a credential: `Authorization`, or the header with this `name`. */
export interface SecurityScheme {
  readonly name?: string;
  readonly bearerFormat?: string;
  readonly description?: string;
}

/** An operation as a document describes it. */
export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  /** Security schemes by name, the usual one first, with the scopes that the credential must have. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly Member[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Member>> };
  readonly responses: Readonly<Record<string, Member>>;
}

/** Any JSON object of a document. */
export type Member = Readonly<Record<string, unknown>>;

/** An operation with its method and path. */
export interface Place {
  readonly method: string;
  readonly path: string;
  readonly operation: DescribedOperation;
}

/** Returns the text in which the page's search looks for an operation. */
export function searchText({ method, path, operation }: Place): string {
  const { operationId, summary, description } = operation;
  return `${method} ${path} ${operationId} ${summary} ${description}`.toLowerCase();
}
