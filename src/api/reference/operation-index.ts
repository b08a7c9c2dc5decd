/** The parts of a document that the page shows. The documents are generated, and tests check their structure. */
export interface Described {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Member>>>>;
}

/** A way to send a credential: in the header called `name`, or in `Authorization` if `name` is absent. */
export interface SecurityScheme {
  readonly name?: string;
  readonly scheme?: string;
  readonly bearerFormat?: string;
  readonly description?: string;
}

/** An operation as a document describes it. */
export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  /**
   * Security schemes that the operation accepts, the usual one first. Each entry maps a scheme's name to the scopes
   * that the credential must have.
   */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly Member[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Member>> };
  readonly responses: Readonly<Record<string, Member>>;
}

/** Any JSON object in a document. */
export type Member = Readonly<Record<string, unknown>>;

/** An operation, with its method and path. */
export interface Place {
  readonly method: string;
  readonly path: string;
  readonly operation: DescribedOperation;
}

/** Returns the searchable text of an operation. */
export function searchText({ method, path, operation }: Place): string {
  const { operationId, summary, description } = operation;
  return `${method} ${path} ${operationId} ${summary} ${description}`.toLowerCase();
}
