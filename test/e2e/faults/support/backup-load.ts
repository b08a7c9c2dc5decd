/** Load on gateways while a backup is taken and brought back: what is created meanwhile, and what is responded to what. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Parent } from '../../../support/apis.ts';
import type { Call } from '../../../support/http-client.ts';

/** A request that is sent again and again, and what the dump and the time after it say of it. */
export interface Probe {
  readonly what: string;
  readonly key: string;
  readonly acting?: string;
  /** The response by the dump: a status and, where it is rejected, the code. */
  readonly byDump: string;
  /** The response by what was done after the dump. */
  readonly byLater: string;
  /** The response by some facts of the one and some of the other. */
  readonly mixed?: string;
}

/** Status and, of a pass, the tenant; of a rejection, the code. */
export async function ask(replica: Call, { key, acting }: Pick<Probe, 'key' | 'acting'>): Promise<string> {
  const headers = acting === undefined ? {} : { 'X-Service-Acting-Tenant': acting };
  const { status, body, headers: responseHeaders } = await replica('GET', '/v1/x', { key, headers });
  return `${status} ${String(status === 200 ? responseHeaders['x-service-resolved-tenant'] : body['code'])}`;
}

/** Creates one sub-account after the other; their ids, in order. */
export function keepCreating(call: Call, parent: Parent) {
  const created: string[] = [];
  let stopped = false;
  const done = (async () => {
    while (!stopped) {
      const { body } = await call('POST', '/v1/sub-accounts', { key: parent.key, body: { name: 'busy' } });
      created.push(String(body['id']));
      await sleep(25);
    }
  })();
  return {
    created,
    stop: () => {
      stopped = true;
      return done;
    },
  };
}

interface Asked {
  readonly probe: Probe;
  readonly response: string;
}

/** Sends the probes to every replica all the time. `startOver` tells requests sent before it from those after. */
export function keepAsking(replicas: readonly Call[], probes: readonly Probe[]) {
  const responses: (Asked & { readonly age: number })[] = [];
  let age = 0;
  let stopped = false;
  const done = replicas.map(async (replica) => {
    while (!stopped) {
      for (const probe of probes) {
        const began = age;
        responses.push({ probe, response: await ask(replica, probe), age: began });
      }
      await sleep(5);
    }
  });
  return {
    responses,
    startOver: () => (age += 1),
    stop: async () => {
      stopped = true;
      await Promise.all(done);
      const of = (wanted: number): Asked[] =>
        responses.filter((each) => each.age === wanted).map(({ probe, response }) => ({ probe, response }));
      return { during: of(0), since: of(1) };
    },
  };
}
