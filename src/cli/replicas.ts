import type { Command } from 'commander';
import type { Replica, ReplicaList } from '../generated/operator-types.ts';
import type { Context } from './context.ts';
import { styled, table } from './output.ts';

/** `replicas`: lists the replicas with their leases and positions. */
export function replicasCommand(program: Command, context: Context): void {
  program
    .command('replicas')
    .description('list the replicas on this database with leases, positions and lag')
    .action(async () => {
      const replicas = await context.api().call<ReplicaList>('GET', '/replicas');
      context.output().result(replicas, () => show(replicas));
    });
}

function show({ position, complete, data, silent }: ReplicaList): string {
  const rows = data.map((replica) => [
    replica.self ? `${replica.id} ${styled('dim', '(asked)')}` : replica.id,
    replica.host ?? '–',
    stateOf(replica),
    `${(replica.lease_age_ms / 1000).toFixed(1)} s of ${replica.lease_ms / 1000} s`,
    clockOf(replica),
    String(replica.applied),
    replica.lag === 0 ? '0' : styled('yellow', String(replica.lag)),
    replica.version ?? '–',
  ]);
  return [
    table(['REPLICA', 'HOST', 'STATE', 'RENEWED AGO', 'CLOCK', 'POSITION', 'BEHIND', 'VERSION'], rows),
    '',
    `The newest position is ${position}.`,
    ...data
      .filter(({ state }) => state === 'lapsed')
      .slice(0, 1)
      .map(() => lapsedNote),
    ...(complete ? [] : [restoredNote]),
    ...silent.map(
      ({ id, host, last_seen, through, given_up }) =>
        `Usage of ${host ?? id} from ${through} on is missing: silent since ${last_seen}. ${
          given_up
            ? 'Reports go on without it.'
            : `Reports wait for it; \`usage forget ${host ?? id}\` ends that.`
        }`,
    ),
  ].join('\n');
}

/**
 * Formats how far a replica's wall clock is from the database's clock. The database's clock decides when keys expire.
 */
function clockOf({ clock_offset_ms: ms }: Replica): string {
  if (ms === null) return '–';
  const text = `${ms < 0 ? '−' : '+'}${(Math.abs(ms) / 1000).toFixed(1)} s`;
  return Math.abs(ms) > 1_000 ? styled('yellow', text) : text;
}

const colours = { live: 'green', leaving: 'yellow', lapsed: 'red' } as const;

function stateOf({ state }: Replica): string {
  return styled(colours[state], state);
}

const lapsedNote =
  'A lapsed replica decides nothing until it has renewed its lease. Its row is deleted if it does not come back.';
const restoredNote =
  'The database was restored a moment ago. Gateways that have not renewed their leases since are not shown yet, and changes wait for them.';
