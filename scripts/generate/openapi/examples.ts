import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Entries } from './subjects.ts';
import { folder } from './texts.ts';
import type { Json } from './types.ts';

const document = 'https://gateway.example/document';

/** Makes the examples of a document, each of the schema with its name. */
export class Examples {
  readonly #schemas: Readonly<Record<string, Json>>;
  readonly #faults: string[];
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });

  /** @param faults examples that are missing or not of their schema are added to them */
  constructor(schemas: Readonly<Record<string, Json>>, faults: string[]) {
    this.#schemas = schemas;
    this.#faults = faults;
    this.#ajv.addSchema({ $id: document, components: { schemas } });
  }

  /** The examples of bodies. @param paths name those that the document needs */
  ofBodies(examples: Entries<unknown>, paths: Json): Json {
    for (const [, name = ''] of JSON.stringify(paths).matchAll(/"#\/components\/examples\/(\w+)"/g))
      if (!examples.has(name))
        this.#faults.push(`${name} has no example: add it to the subject of its schema in ${folder}/.`);
    return Object.fromEntries(
      [...examples].map(([name, { value, file }]) => {
        const what = `The example of ${name} in text/${file}`;
        const schema = this.#schemas[name];
        if (schema === undefined) this.#faults.push(`${what} is of no schema.`);
        else this.#check(what, name, value);
        return [name, { summary: schema?.['description'], value }];
      }),
    );
  }

  /** The examples of rejections. */
  ofProblems(examples: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
    for (const [name, { value }] of Object.entries(examples))
      this.#check(`The example of ${name}`, 'Problem', value);
    return examples;
  }

  #check(what: string, schema: string, value: unknown): void {
    const validate = this.#ajv.getSchema(`${document}#/components/schemas/${schema}`);
    if (validate === undefined || validate(value) === true) return;
    for (const { instancePath, message, params } of validate.errors ?? [])
      this.#faults.push(`${what} is wrong: ${schema}${instancePath} ${message} ${JSON.stringify(params)}.`);
  }
}
