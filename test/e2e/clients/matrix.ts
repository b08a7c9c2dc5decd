/** Runs every case of every client against both gateways. */
import type { Scope } from '../../support/servers.ts';
import { eventClients, httpClients, webSocketClients, type Client } from './clients.ts';
import { Driver, type Launch } from './driver.ts';
import { httpCases, type Case } from './http-cases.ts';
import { eventCases, webSocketCases } from './stream-cases.ts';
import { Missing } from '../../support/installed-once.ts';
import { startWorld, type Origin, type World } from './world.ts';

/** A row of the page. */
export interface Row {
  readonly client: string;
  readonly version: string;
  /** What all its cases took. */
  readonly seconds: number;
  /** How to get it, where it is not here. */
  readonly missing?: string;
  /** By id of the case. */
  readonly outcomes: Readonly<Record<string, Outcome>>;
}

export type Outcome = { readonly kind: 'ok' } | { readonly kind: 'without' | 'failed'; readonly why: string };

/** A table of the page: clients of one kind, and what all of them do. */
export interface Part {
  readonly title: string;
  readonly clients: readonly Client<unknown>[];
  readonly cases: readonly Pick<Case<never>, 'id' | 'title'>[];
  readonly rows: (world: World, scope: Scope, asked: Asked) => Promise<Row[]>;
}

/** Which clients are to run, and what hears of each row. */
export interface Asked {
  readonly wants: (client: string) => boolean;
  readonly done: (row: Row) => void;
}

export const parts: readonly Part[] = [
  part('HTTP', httpClients, httpCases, (client, clientName, _world, scope) => ({
    at: (origin: Origin) => ({ client, clientName, origin, scope }),
    stop: () => client.stop(),
  })),
  part('WebSocket', webSocketClients, webSocketCases, asDriver),
  part('Server-sent events', eventClients, eventCases, asDriver),
];

/** @returns the rows of each part, in its order */
export async function runMatrix(scope: Scope, asked: Asked): Promise<Row[][]> {
  const world = await startWorld(scope);
  const all: Row[][] = [];
  for (const { rows } of parts) all.push(await rows(world, scope, asked));
  return all;
}

interface Running<At> {
  at(origin: Origin): At;
  stop(): Promise<void>;
}

function asDriver(launch: Launch, _name: string, { upstream }: World) {
  const driver = new Driver(launch);
  return { at: (origin: Origin) => ({ driver, origin, upstream }), stop: () => driver.stop() };
}

function part<What, At>(
  title: string,
  clients: readonly Client<What>[],
  cases: readonly Case<At>[],
  run: (what: What, name: string, world: World, scope: Scope) => Running<At>,
): Part {
  return {
    title,
    clients,
    cases,
    async rows(world, scope, { wants, done }) {
      const rows: Row[] = [];
      for (const client of clients.filter(({ name }) => wants(name))) {
        const row = await rowOf(client, cases, world, (what) => run(what, client.name, world, scope));
        rows.push(row);
        done(row);
      }
      return rows;
    },
  };
}

async function rowOf<What, At>(
  { name, prepare, without = {} }: Client<What>,
  cases: readonly Case<At>[],
  world: World,
  run: (what: What) => Running<At>,
): Promise<Row> {
  try {
    const { version, what } = await prepare(world);
    const began = performance.now();
    const running = run(what);
    const outcomes: Record<string, Outcome> = {};
    for (const one of cases) {
      const why = without[one.id];
      outcomes[one.id] =
        why === undefined
          ? await outcomeOf(
              one,
              world.origins.map((origin) => [origin.transport, running.at(origin)] as const),
            )
          : { kind: 'without', why };
    }
    await running.stop();
    return { client: name, version, seconds: (performance.now() - began) / 1000, outcomes };
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    return { client: name, version: '', seconds: 0, missing: error.message, outcomes: {} };
  }
}

async function outcomeOf<At>(one: Case<At>, places: readonly (readonly [string, At])[]): Promise<Outcome> {
  const faults: string[] = [];
  for (const [transport, at] of places) {
    try {
      await one.run(at);
    } catch (error) {
      faults.push(`${transport}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return faults.length === 0 ? { kind: 'ok' } : { kind: 'failed', why: faults.join('; ') };
}
