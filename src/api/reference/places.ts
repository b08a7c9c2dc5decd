/** What of a document is looked at here; it is generated, and tests hold its form. */
export interface Described {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Member>>>>;
}

/** An operation. */
export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Member[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Member>> };
  readonly responses: Readonly<Record<string, Member>>;
}

/** Any JSON object of a document. */
export type Member = Readonly<Record<string, unknown>>;

/** What leads to an operation. */
export interface Place {
  readonly method: string;
  readonly path: string;
  readonly operation: DescribedOperation;
}

/** What an operation is found by. */
export function searchText({ method, path, operation }: Place): string {
  const { operationId, summary, description } = operation;
  return `${method} ${path} ${operationId} ${summary} ${description}`.toLowerCase();
}
