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
import { importBodyLimit, mostImported, mostItems } from '../rest/import-size.ts';
import { closed, noQuery } from '../rest/typebox.ts';
import { operatorOf, type OperatorApp } from '../operator/operator-token.ts';
import { importBody, noSubAccount, readImport } from './import-request.ts';
import { apiKeyBody, apiKeyToBody } from './resource.ts';

/** Dependencies of {@link importRoute}. */
export interface ImportRouteDeps {
  readonly tenants: Pick<TenantStore, 'importKeys'>;
  readonly barrier: Barrier;
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Name of the receipt header. */
  readonly enforcedHeader: string;
  readonly keysPerAccount: number;
  /** Prefix of new keys. An imported key with this prefix must carry a valid checksum. */
  readonly keyPrefix: string;
}

const accountPath = closed({ owner_id: Type.String() });
const importedBody = closed({
  imported: Type.Integer(),
  existing: Type.Integer(),
  data: Type.Array(apiKeyBody),
});

/** `POST …/api-keys/import`: imports existing keys for a parent and its sub-accounts, either all of them or none. */
export function importRoute(app: OperatorApp, deps: ImportRouteDeps): void {
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
      config: { role: 'admin', mostItems },
      // The handler runs even if the schema reports faults, so that one response lists the faults that both have found.
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
        keyPrefix: deps.keyPrefix,
        nowMs,
        newId: () => uuidV7(nowMs, randomBytes(10)) as KeyId,
      });
      if ('problem' in read) throw new ProblemError(read.problem);

      const of = found(parent, 'account');
      const outcome = found(
        await tenants.importKeys(of, read.keys, deps.keysPerAccount, claim, operatorOf(request)),
        'account',
      );
      if ('rejected' in outcome) throw new ProblemError(rejection(outcome, read.keys));
      noteReplay(reply, outcome);
      const { imported, keys } = await enforced(outcome, barrier, reply, deps.enforcedHeader);
      const data = keys.map((key) => toBody(key, of, clock.wallMs()));
      return { imported, existing: keys.length - imported, data };
    },
  );
}

/** Returns the response body for a key. The body of a sub-account's key names the sub-account as well as the parent. */
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
        detail: `Keys that belong to other accounts: ${positions.length} of ${keys.length}. None was imported.`,
        errors: faults(positions, '', 'belongs to another account.'),
      };
    case 'limit':
      return {
        code: 'limit_reached',
        detail: `An account may have at most ${limit} API keys, so none was imported.`,
        errors: faults(positions, '', 'would exceed the limit of its account.'),
      };
  }
}

function faults(positions: readonly number[], member: string, detail: string): FieldFault[] {
  return positions.map((position) => ({ pointer: `/keys/${position}${member}`, detail }));
}
