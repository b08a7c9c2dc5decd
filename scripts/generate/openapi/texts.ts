import { mergedSubjects, type ApiEntries, type Entries, type Entry } from './subjects.ts';
import type { Api } from './types.ts';

/** Where subjects are. */
export const folder = 'scripts/generate/openapi/text';

/** Looks up what subjects say, and notes what is missing and what nothing uses. */
export class Texts {
  readonly #faults: string[];
  readonly #apis: Readonly<Record<Api['callers'], ApiEntries>>;
  readonly #schemas: Entries<string>;
  readonly #inner: Entries<string>;
  readonly #members: Entries<string>;
  readonly #used = new Set<Entry<string>>();

  /** @param faults what is missing, double, in another subject or unused is added to them */
  constructor(faults: string[]) {
    const { schemas, inner, members, ...apis } = mergedSubjects(faults);
    this.#faults = faults;
    this.#apis = apis;
    this.#schemas = schemas;
    this.#inner = inner;
    this.#members = members;
  }

  /** Operations, examples and links of an API. */
  ofApi({ callers }: Api): ApiEntries {
    return this.#apis[callers];
  }

  /** The description of a schema. */
  ofSchema(name: string): string {
    const entry = this.#schemas.get(name);
    if (entry === undefined)
      this.#faults.push(
        `The schema ${name} has no text: add it to \`schemas\` of its subject in ${folder}/.`,
      );
    else this.#used.add(entry);
    return entry?.value ?? '';
  }

  /** The description of a member: that of `Schema.name`, or that of its name in the subject or in all. */
  ofMember(schema: string, name: string): string {
    const own = `${schema}.${name}`;
    const file = this.#schemas.get(schema)?.file;
    return this.#textOf([own, name], `The member ${own}`, file, `add ${own} to text/${file}, or `);
  }

  /** The description of a parameter in the query of an operation. @param file the operation's */
  ofParameter(name: string, operation: string, file: string): string {
    return this.#textOf([`query.${name}`, name], `The parameter ${name} of ${operation}`, file, '');
  }

  /** Names of the schemas inside one, with JSON pointers to them. */
  innerOf(outer: string): readonly (readonly [pointer: string, name: string])[] {
    return [...this.#inner].flatMap(([place, entry]) => {
      if (!place.startsWith(`${outer}/`)) return [];
      this.#used.add(entry);
      return [[place.slice(outer.length), entry.value] as const];
    });
  }

  /** Adds to the faults what no document has used. */
  noteUnused(): void {
    for (const [name, entry] of [...this.#members, ...this.#schemas, ...this.#inner])
      if (!this.#used.has(entry))
        this.#faults.push(`text/${entry.file} has ${name}, and nothing is called that.`);
  }

  /** @param file the subject that needs it, unless only its schema's text is missing */
  #textOf(keys: readonly string[], what: string, file: string | undefined, remedy: string): string {
    for (const key of keys) {
      const entry = this.#members.get(key);
      if (entry === undefined) continue;
      this.#used.add(entry);
      if (file !== undefined && entry.file !== file && entry.file !== 'shared.ts')
        this.#faults.push(
          `${what} has the text of ${key} in text/${entry.file}, another subject: ${remedy}move that text to text/shared.ts.`,
        );
      return entry.value;
    }
    this.#faults.push(`${what} has no text: add it to \`members\` in ${folder}/${file ?? ''}.`);
    return '';
  }
}
