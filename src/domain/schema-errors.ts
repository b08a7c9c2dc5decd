/** An error of a JSON Schema validator: the members of Ajv's `ErrorObject` that are used. */
export interface SchemaError {
  readonly keyword: string;
  /** JSON pointer (RFC 6901) to the faulty value, or to the object with a missing or unknown member. */
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly parentSchema?: object;
  /** The faulty name of a member, if the schema restricts names. */
  readonly propertyName?: string;
}

/** A validation error with all details that a message about it needs. It contains no value from the checked input. */
export interface SchemaFinding {
  readonly keyword: string;
  readonly pointer: string;
  /** Name of a missing, unknown or badly named member of the object at `pointer`; `undefined` for any other fault. */
  readonly member: string | undefined;
  /** Whether the fault lies in the name of `member`, such as its length; false if `member` is missing or unknown. */
  readonly aboutName: boolean;
  /** Types that the schema accepts. */
  readonly types: readonly string[];
  /** Values that the schema accepts. */
  readonly allowed: readonly unknown[];
  /** Names of the members that the object may have, if `member` is unknown. */
  readonly known: readonly string[];
  /** Bound that the value violates, such as the maximum length of a text. */
  readonly limit: number | undefined;
  /** Expected `format` of a text. */
  readonly format: string | undefined;
  /** Description of the value in the schema. */
  readonly description: string | undefined;
}

type Sentence = (finding: SchemaFinding) => string;

/** Functions that write messages for one kind of reader, by keyword of JSON Schema. */
export interface Wording {
  readonly [keyword: string]: Sentence;
  /** Writes the message for every other keyword. */
  readonly otherwise: Sentence;
}

/**
 * Puts the errors of a validator into words. Configuration and requests have different readers, so each passes its own
 * wording.
 */
export function explainSchemaErrors(
  errors: readonly SchemaError[],
  wording: Wording,
): readonly (SchemaFinding & { readonly detail: string })[] {
  return (
    errors
      // `propertyNames` only repeats that a name is faulty; another error says why.
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
