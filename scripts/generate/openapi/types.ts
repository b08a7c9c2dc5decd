import type { ProblemCode } from '../../../src/domain/problem.ts';

/** JSON that is put together. */
export type Json = Record<string, unknown>;

/** Headers of responses, by the names of their components. */
export type ResponseHeader =
  'Enforced' | 'Replayed' | 'NoStore' | 'NoBuffering' | 'SessionCookie' | 'CsvName' | 'VaryAccept';

/** What the routes cannot say of an operation. */
export interface OperationText {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  /** CommonMark. */
  readonly description: string;
  /** Name of the schema of its body. */
  readonly request?: string;
  /** By status: the name of the schema of the body (`null` if there is none), and when it comes. */
  readonly responses: Readonly<Record<number, readonly [schema: string | null, when: string]>>;
  /** Codes beyond those that its kind of operation has anyway. */
  readonly problems?: readonly ProblemCode[];
  /** Codes of its kind that it never has. */
  readonly never?: readonly ProblemCode[];
  readonly headers?: readonly ResponseHeader[];
  /** The account in the path may be a sub-account, too. */
  readonly anyAccount?: true;
  /** A POST that takes no `Idempotency-Key`. */
  readonly noIdempotency?: true;
  /** The report may be CSV, too. */
  readonly csv?: true;
  /** The response is a stream of Server-Sent Events. */
  readonly events?: true;
  /** Operations that may follow, by the names of links. */
  readonly links?: readonly string[];
}

/** By method and path, such as `GET /v1/sub-accounts/{sub_id}`. */
export type OperationTexts = Readonly<Record<string, OperationText>>;

/** Texts of the operations that one API has on a subject. */
export interface ApiTexts {
  readonly operations: OperationTexts;
  /** Examples that only this API's document has, by the names of schemas. */
  readonly examples?: Readonly<Record<string, unknown>>;
  /** Parameters of links, by name. A link leads to the operation with its name: `GetAccount` to `getAccount`. */
  readonly links?: Readonly<Record<string, Json>>;
}

/** Texts of the operations on one kind of thing, and of their schemas. Each file of text/ exports one. */
export interface Subject {
  readonly parents?: ApiTexts;
  readonly operators?: ApiTexts;
  /** Examples that both documents have, by the names of schemas. */
  readonly examples?: Readonly<Record<string, unknown>>;
  /** Descriptions of schemas. */
  readonly schemas?: Readonly<Record<string, string>>;
  /** Names of schemas inside others, by the name of the outer one and a JSON pointer into it. */
  readonly inner?: Readonly<Record<string, string>>;
  /**
   * Descriptions of members and parameters by name, or by `Schema.name` if schemas differ. Parameters of the query are
   * `query.name`.
   */
  readonly members?: Readonly<Record<string, string>>;
}

/** One API that has a document. */
export interface Api {
  readonly title: string;
  readonly description: string;
  readonly prefix: string;
  readonly tags: readonly (readonly [name: string, description: string])[];
  /** What the owner of keys is called in paths. */
  readonly ownerId: string;
  /** `parents`: with API keys, scopes and the acting header; `operators`: with the operator token. */
  readonly callers: 'parents' | 'operators';
}
