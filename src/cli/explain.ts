import type { Command } from 'commander';
import type { Explanation } from '../generated/operator-types.ts';
import type { Context } from './context.ts';
import { fields, printable, styled } from './output.ts';

interface Options {
  readonly keyId: string;
  readonly method: string;
  readonly path: string;
  readonly acting?: string;
}

/** `explain`: shows which tenant a request would act as, and why. */
export function explainCommand(program: Command, context: Context): void {
  program
    .command('explain')
    .description('who a request would act as, and why')
    .requiredOption('--key-id <id>', 'id of the API key the request would carry (not the key itself)')
    .option('--method <method>', 'its method', 'GET')
    .option('--path <path>', 'its path', '/')
    .option('--acting <value>', 'its acting header: self, a UUID or ext:<external_id>')
    .action(async ({ keyId, method, path, acting }: Options) => {
      const explanation = await context.api().call<Explanation>('POST', '/explain', {
        key_id: keyId,
        method: method.toUpperCase(),
        path,
        ...(acting === undefined ? {} : { acting_tenant: acting }),
      });
      const names = await namesIn(context, explanation);
      context.output().result(explanation, () => show(explanation, names));
    });
}

/** Looks up the account names for an explanation, because the explanation contains only account ids. */
async function namesIn(
  context: Context,
  { caller, acts_as: tenant }: Explanation,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  if (caller === null) return names;
  const parent = caller.parent_id ?? caller.account_id;
  for (const id of new Set([caller.account_id, tenant ?? caller.account_id])) {
    const path = id === parent ? `/accounts/${id}` : `/accounts/${parent}/sub-accounts/${id}`;
    names.set(id, (await context.api().call<{ readonly name: string }>('GET', path)).name);
  }
  return names;
}

function show(explanation: Explanation, names: ReadonlyMap<string, string>): string {
  const { allowed, acts_as: tenant, reason, because, status, problem, request, caller } = explanation;
  const { limits, ended_by: ended, facts } = explanation;
  const named = (id: string): string => printable([id, names.get(id) ?? []].flat().join('  '));
  const decision = allowed
    ? styled('green', `allowed, as ${named(tenant ?? '')}`)
    : styled('red', `refused, ${status ?? ''} ${reason}`);
  return fields([
    ['request', printable(`${request.method} ${request.path}`)],
    ['route', request.route],
    ['caller', caller === null ? 'not let in' : `${caller.kind} ${named(caller.account_id)}`],
    ['scopes', caller?.scopes.join(' ') || '(none)'],
    ['verdict', decision],
    ['because', printable(because)],
    ...(problem ? [['problem', String(problem['type'])] as const] : []),
    ...(ended ? [['done by', showChange(ended)] as const] : []),
    ...limits.map((limit, i) => [i === 0 ? 'limits' : '', showLimit(limit)] as const),
    ...(facts ? [['facts', showFacts(facts)] as const] : []),
  ]);
}

function showChange({ type, at, by, name, event_id: event }: NonNullable<Explanation['ended_by']>): string {
  return `${printable([by, name ?? []].flat().join(' '))}, ${type} at ${at}, event ${event}`;
}

function showFacts({ replica_id: id, applied, age_ms: ageMs }: NonNullable<Explanation['facts']>): string {
  return `every change up to position ${applied}, read ${ageMs} ms before by replica ${id}`;
}

function showLimit({
  limited,
  per,
  quota,
  remaining,
  reset_s: reset,
}: Explanation['limits'][number]): string {
  return `${limited} per ${per}: ${remaining} of ${quota} left, all again in ${reset} s`;
}
