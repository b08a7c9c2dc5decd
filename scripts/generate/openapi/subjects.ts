import { accounts } from './text/accounts.ts';
import { anyKey } from './text/any-key.ts';
import { apiKeys } from './text/api-keys.ts';
import { caller } from './text/caller.ts';
import { decisions } from './text/decisions.ts';
import { events } from './text/events.ts';
import { gateway } from './text/gateway.ts';
import { imports } from './text/imports.ts';
import { limits } from './text/limits.ts';
import { plans } from './text/plans.ts';
import { portal } from './text/portal.ts';
import { shared } from './text/shared.ts';
import { subAccounts } from './text/sub-accounts.ts';
import { usage } from './text/usage.ts';
import type { Api, Json, OperationText, Subject } from './types.ts';

/** By their files in text/. Documents have examples and links in this order. */
const subjects: Readonly<Record<string, Subject>> = {
  'accounts.ts': accounts,
  'plans.ts': plans,
  'sub-accounts.ts': subAccounts,
  'api-keys.ts': apiKeys,
  'any-key.ts': anyKey,
  'caller.ts': caller,
  'limits.ts': limits,
  'usage.ts': usage,
  'imports.ts': imports,
  'events.ts': events,
  'portal.ts': portal,
  'decisions.ts': decisions,
  'gateway.ts': gateway,
  'shared.ts': shared,
};

/** One text, or whatever else subjects have. */
export interface Entry<T> {
  readonly value: T;
  /** The file in text/ that has it. */
  readonly file: string;
}

/** By name. */
export type Entries<T> = ReadonlyMap<string, Entry<T>>;

/** Entries of one API from all subjects. */
export interface ApiEntries {
  readonly operations: Entries<OperationText>;
  readonly examples: Entries<unknown>;
  readonly links: Entries<Json>;
}

/** Entries of all subjects. */
export interface SubjectEntries {
  readonly parents: ApiEntries;
  readonly operators: ApiEntries;
  readonly schemas: Entries<string>;
  readonly inner: Entries<string>;
  readonly members: Entries<string>;
}

/**
 * Merges the subjects.
 *
 * @param faults gets an entry for everything that two subjects define
 */
export function mergedSubjects(faults: string[]): SubjectEntries {
  return {
    parents: apiEntries('parents', faults),
    operators: apiEntries('operators', faults),
    schemas: merged('schema', ({ schemas }) => [schemas], faults),
    inner: merged('name inside', ({ inner }) => [inner], faults),
    members: merged('member', ({ members }) => [members], faults),
  };
}

function apiEntries(callers: Api['callers'], faults: string[]): ApiEntries {
  return {
    operations: merged('operation', (subject) => [subject[callers]?.operations], faults),
    examples: merged('example', (subject) => [subject.examples, subject[callers]?.examples], faults),
    links: merged('link', (subject) => [subject[callers]?.links], faults),
  };
}

function merged<T>(
  kind: string,
  recordsOf: (subject: Subject) => readonly (Readonly<Record<string, T>> | undefined)[],
  faults: string[],
): Entries<T> {
  const all = new Map<string, Entry<T>>();
  for (const [file, subject] of Object.entries(subjects))
    for (const [name, value] of recordsOf(subject).flatMap((record) => Object.entries(record ?? {}))) {
      const other = all.get(name);
      if (other === undefined) all.set(name, { value, file });
      else
        faults.push(
          `The ${kind} ${name} is in text/${other.file} and again in text/${file}: remove one of them.`,
        );
    }
  return all;
}
