import { Type, type Static } from 'typebox';
import { apiKeyReader, type ApiKey } from '../../domain/api-key.ts';
import { parseAccountId, uuidV7, type AccountId, type KeyId } from '../../domain/ids.ts';
import { ProblemError, type FieldFault, type Problem } from '../../domain/problem.ts';
import { fieldFaults } from '../../http/field-faults.ts';
import { invalidRequest } from '../../http/invalid-request.ts';
import { found } from '../../http/not-found.ts';
import type { Barrier } from '../../ports/barrier.ts';
import type { Clock } from '../../ports/clock.ts';
import { operatorCaller } from '../../ports/changes.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';
import type { ImportRejected, KeyToImport } from '../../ports/api-keys.ts';
import { enforced, idempotencyClaim, noteReplay } from '../rest/changes.ts';
import { closed, noQuery, type TypedApp } from '../rest/typebox.ts';
import { operatorOf } from '../operator/operator-token.ts';
import { importBody, noSubAccount, readImport } from './import-request.ts';
import { mostImported } from './imported-key.ts';
import { apiKeyBody, apiKeyToBody } from './resource.ts';

/** What the route needs. */
export interface ImportRouteDeps {
  readonly tenants: Pick<TenantStore, 'importKeys'>;
  readonly barrier: Barrier;
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Name of the receipt header. */
  readonly enforcedHeader: string;
  readonly keysPerAccount: number;
  /** What new keys begin with; one that is imported and begins like that needs our checksum. */
  readonly keyPrefix: string;
}

/** A thousand keys with names and scopes; more than other bodies may be long, since one call takes one position in the log. */
export const importBodyLimit = 8 * 1024 * 1024;
/** A key has eight members, and fifty scopes at most. */
const mostItems = mostImported * 60;

const accountPath = closed({ owner_id: Type.String() });
const importedBody = closed({
  imported: Type.Integer(),
  existing: Type.Integer(),
  data: Type.Array(apiKeyBody),
});

/** `POST …/api-keys/import`: keys that customers use already, for a parent and its sub-accounts; all of them or none. */
export function importRoute(app: TypedApp, deps: ImportRouteDeps): void {
  const { tenants, barrier, clock, randomBytes } = deps;
  const readApiKey = apiKeyReader(deps.keyPrefix);

  app.post(
    '/accounts/:owner_id/api-keys/import',
    {
      schema: {
        params: accountPath,
        querystring: noQuery,
        body: importBody,
        response: { 200: importedBody },
      },
      bodyLimit: importBodyLimit,
      config: { mostItems },
      // So that what the schema finds and what it cannot say are reported together.
      attachValidation: true,
    },
    async (request, reply) => {
      const claim = idempotencyClaim(request, operatorCaller);
      const { validationError: invalid, body } = request;
      if (invalid !== undefined && invalid.validationContext !== 'body') throw invalid;
      const nowMs = clock.wallMs();
      const parent = parseAccountId(request.params.owner_id);
      const schemaFaults = fieldFaults((invalid?.validation ?? []) as readonly object[], 'body');
      const read = readImport(body, schemaFaults, {
        parent,
        readApiKey,
        nowMs,
        newId: () => uuidV7(nowMs, randomBytes(10)) as KeyId,
      });
      if ('problem' in read) throw new ProblemError(read.problem);

      const of = found(parent);
      const outcome = found(
        await tenants.importKeys(of, read.keys, deps.keysPerAccount, claim, operatorOf(request)),
      );
      if ('rejected' in outcome) throw new ProblemError(rejection(outcome, read.keys));
      noteReplay(reply, outcome);
      const { imported, keys } = await enforced(outcome, barrier, reply, deps.enforcedHeader);
      const data = keys.map((key) => toBody(key, of, clock.wallMs()));
      return { imported, existing: keys.length - imported, data };
    },
  );
}

/** The parent is named for all of them, and the sub-account where it is the owner. */
function toBody(key: ApiKey, parent: AccountId, nowMs: number): Static<typeof apiKeyBody> {
  if (key.accountId === parent) return apiKeyToBody(key, 'account_id', nowMs);
  return { account_id: parent, ...apiKeyToBody(key, 'sub_account_id', nowMs) };
}

function rejection(
  { rejected, positions, limit = 0 }: ImportRejected,
  keys: readonly KeyToImport[],
): Problem {
  switch (rejected) {
    case 'no-owner':
      return invalidRequest(faults(positions, '/sub_account_id', noSubAccount), mostImported);
    case 'taken':
      return {
        code: 'api_key_taken',
        detail: `Of these ${keys.length} keys ${positions.length} belong to other accounts, so none was imported.`,
        errors: faults(positions, '', 'belongs to another account.'),
      };
    case 'limit':
      return {
        code: 'limit_reached',
        detail: `There may be ${limit} API keys of an account at most, so none was imported.`,
        errors: faults(positions, '', 'is of an account that would have more keys than it may.'),
      };
  }
}

function faults(positions: readonly number[], member: string, detail: string): FieldFault[] {
  return positions.map((position) => ({ pointer: `/keys/${position}${member}`, detail }));
}
