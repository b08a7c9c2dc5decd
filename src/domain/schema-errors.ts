/** An error from a JSON Schema validator: the members of Ajv's `ErrorObject` that are used here. */
export interface SchemaError {
  readonly keyword: string;
  /** JSON pointer (RFC 6901) to the faulty value, or to the object with a missing or unknown member. */
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly parentSchema?: object;
  /** The invalid member name, if the schema restricts names. */
  readonly propertyName?: string;
}

/** A validation error with everything that a message about it needs. It contains no values from the checked input. */
export interface SchemaFinding {
  readonly keyword: string;
  readonly pointer: string;
  /** Name of a missing, unknown or badly named member of the object at `pointer`; `undefined` for any other fault. */
  readonly member: string | undefined;
  /** Whether the error is about the name of `member`, such as its length; false if `member` is missing or unknown. */
  readonly aboutName: boolean;
  /** Types that the schema accepts. */
  readonly types: readonly string[];
  /** Values that the schema accepts. */
  readonly allowed: readonly unknown[];
  /** Names of the members that the object may have, if `member` is unknown. */
  readonly known: readonly string[];
  /** Bound that the value violates, such as the maximum length of a string. */
  readonly limit: number | undefined;
  /** Expected `format` of a string. */
  readonly format: string | undefined;
  /** The schema's description of the value. */
  readonly description: string | undefined;
}

type Sentence = (finding: SchemaFinding) => string;

/** Functions that write messages for one audience, keyed by JSON Schema keyword. */
export interface Wording {
  readonly [keyword: string]: Sentence;
  /** Writes the message for any other keyword. */
  readonly otherwise: Sentence;
}

/**
 * Turns a validator's errors into messages. Configuration errors and request errors have different readers, so each
 * caller passes its own wording.
 */
export function explainSchemaErrors(
  errors: readonly SchemaError[],
  wording: Wording,
): readonly (SchemaFinding & { readonly detail: string })[] {
  return (
    errors
      // `propertyNames` only says that a name is invalid; another error says why.
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
