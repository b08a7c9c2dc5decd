import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Account, Key, Tenants } from '../lib/tenants.ts';

/**
 * The facts the rule needs, as one table of text for targets that read files or a cache. Columns of a value are
 * separated by spaces, `-` stands for nothing:
 *
 * - `k:<SHA-256 of the key, base64>` → account id, parent id, key id, scopes joined by commas
 * - `a:<account id>` → parent id, status
 * - `x:<parent id>:<external_id>` → account id
 * - `n:<parent id>` → number of active sub-accounts
 */
export function factTable({
  parent,
  subAccounts,
  parentKey,
  subAccountKey,
}: Tenants): [key: string, value: string][] {
  const accounts = [parent, ...subAccounts];
  const active = subAccounts.filter(({ status }) => status === 'active').length;
  return [
    ...[parentKey, subAccountKey].map((key) => keyFact(key, accounts)),
    ...accounts.map(({ id, parentId, status }): [string, string] => [
      `a:${id}`,
      `${parentId ?? '-'} ${status}`,
    ]),
    ...subAccounts.map(({ id, externalId }): [string, string] => [`x:${parent.id}:${externalId ?? ''}`, id]),
    [`n:${parent.id}`, String(active)],
  ];
}

/** Writes the table, one `key value` a line. @returns the file */
export function writeFactTable(dir: string, tenants: Tenants): string {
  const file = join(dir, 'facts.map');
  writeFileSync(
    file,
    factTable(tenants)
      .map((row) => `${row.join(' ')}\n`)
      .join(''),
  );
  return file;
}

function keyFact(key: Key, accounts: readonly Account[]): [string, string] {
  const parentId = accounts.find(({ id }) => id === key.accountId)?.parentId ?? '-';
  const digest = createHash('sha256').update(key.text).digest('base64');
  return [`k:${digest}`, `${key.accountId} ${parentId} ${key.id} ${key.scopes.join(',')}`];
}
