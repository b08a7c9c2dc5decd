/** What a JSON Schema validator reports of one fault: the members of Ajv's `ErrorObject` that are read. */
export interface SchemaError {
  readonly keyword: string;
  /** JSON pointer (RFC 6901) to the value at fault, or to the object that lacks or holds a member. */
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly parentSchema?: object;
  /** The name at fault, where names have a schema of their own. */
  readonly propertyName?: string;
}

/** One error, read: everything that a sentence about it can be made of. Values that were sent are not among it. */
export interface SchemaFinding {
  readonly keyword: string;
  readonly pointer: string;
  /** The member that is missing, not known or badly named; `pointer` is then the object it belongs to. */
  readonly member: string | undefined;
  /** The name of `member` is at fault, not its presence. */
  readonly aboutName: boolean;
  /** The types that are accepted. */
  readonly types: readonly string[];
  /** The values that are accepted. */
  readonly allowed: readonly unknown[];
  /** The members that the object may have, where one is not known. */
  readonly known: readonly string[];
  /** The bound that was passed. */
  readonly limit: number | undefined;
  /** The kind of text that is expected. */
  readonly format: string | undefined;
  /** What the schema says of the value. */
  readonly description: string | undefined;
}

type Sentence = (finding: SchemaFinding) => string;

/** Sentences for one kind of reader, by keyword of JSON Schema. */
export interface Wording {
  readonly [keyword: string]: Sentence;
  /** For every other keyword. */
  readonly otherwise: Sentence;
}

/**
 * Puts a validator's errors into words. Operators (the configuration) and callers (requests) are told different things
 * about the same errors, so each brings its own wording.
 */
export function explainSchemaErrors(
  errors: readonly SchemaError[],
  wording: Wording,
): readonly (SchemaFinding & { readonly detail: string })[] {
  return (
    errors
      // Says only that a name is at fault; the error of the name itself, which says why, is among the others.
      .filter(({ keyword }) => keyword !== 'propertyNames')
      .map((error) => {
        const finding = read(error);
        return { ...finding, detail: (wording[finding.keyword] ?? wording.otherwise)(finding) };
      })
  );
}

function read({ keyword, instancePath, params, parentSchema, propertyName }: SchemaError): SchemaFinding {
  const { missingProperty, additionalProperty, type, allowedValues, limit, format } = params as {
    readonly missingProperty?: string;
    readonly additionalProperty?: string;
    readonly type?: string | readonly string[];
    readonly allowedValues?: readonly unknown[];
    readonly limit?: number;
    readonly format?: string;
  };
  const schema = parentSchema as { readonly description?: string; readonly properties?: object } | undefined;
  return {
    keyword,
    pointer: instancePath,
    member: missingProperty ?? additionalProperty ?? propertyName,
    aboutName: propertyName !== undefined,
    types: type === undefined ? [] : [type].flat(),
    allowed: allowedValues ?? [],
    known: additionalProperty === undefined ? [] : Object.keys(schema?.properties ?? {}),
    limit,
    format,
    description: schema?.description,
  };
}
