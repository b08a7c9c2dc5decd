/** Requests at a steady pace, and keys that are minted and revoked meanwhile. */
import { eventually } from '../../../support/eventually.ts';
import { History } from '../../faults/support/history.ts';
import type { Balancer } from './balancer.ts';

export interface Traffic {
  readonly history: History;
  /** Keys that were revoked so far. */
  revoked(): number;
  /** Resolves when some more keys have been revoked. */
  goesOn(): Promise<void>;
  /** Requests that were left out, because the machine was too slow for the pace. */
  missed(): number;
  /** Ends it; resolves when the last request has its response. Returns how many seconds it lasted. */
  stop(): Promise<number>;
}

const tickMs = 10;
/** Half a second's. */
const mostUnderWay = 150;
const someKeys = 5;

/** Every third request bears a key that is about to be revoked, or was. */
export function startTraffic(balancer: Balancer, parentKey: string, perSecond: number): Traffic {
  const history = new History();
  const began = performance.now();
  const underWay = new Set<Promise<void>>();
  let stopped = false;
  let sent = 0;
  let missed = 0;
  let revoked = 0;
  let watched: readonly { readonly object: string; readonly key: string }[] = [];

  const ticking = setInterval(() => {
    const due = Math.floor(((performance.now() - began) / 1000) * perSecond);
    for (; sent + missed < due; sent++) {
      // On a machine that is too slow for the pace it is left out: what waits for a machine says nothing about replicas.
      if (underWay.size >= mostUnderWay) missed = due - sent;
      if (sent + missed >= due) break;
      const one = send(sent).finally(() => underWay.delete(one));
      underWay.add(one);
    }
  }, tickMs);
  const changing = change();

  async function send(number: number): Promise<void> {
    const probe = number % 3 === 0 ? watched[(number / 3) % watched.length] : undefined;
    if (probe === undefined) {
      await balancer.send('GET', `/item/${number}`, parentKey, [200]);
      return;
    }
    const response = await balancer.send('GET', `/item/${number}`, probe.key, [200, 401]);
    if (response === undefined) return;
    const value = response.status === 200 ? 'live' : String(response.body['code']);
    history.observe({
      object: probe.object,
      value,
      began: response.began,
      ended: performance.now(),
      by: response.by,
    });
  }

  async function change(): Promise<void> {
    const sub = await create('/v1/sub-accounts', { name: 'Sub' });
    const keys = `/v1/sub-accounts/${String(sub?.['id'])}/api-keys`;
    while (!stopped) {
      const made = await create(keys, { name: 'Key' });
      if (made === undefined) continue;
      const id = String(made['id']);
      history.begin(id, 'live');
      watched = [{ object: id, key: String(made['api_key']) }, ...watched].slice(0, 4);
      await new Promise((resolve) => setTimeout(resolve, 100));
      const revoking = history.change(id, 'api_key_revoked');
      if ((await balancer.send('POST', `${keys}/${id}/revoke`, parentKey, [200])) === undefined) continue;
      revoking.responded();
      revoked += 1;
    }
  }

  async function create(path: string, body: object): Promise<Readonly<Record<string, unknown>> | undefined> {
    return (await balancer.send('POST', path, parentKey, [201], body))?.body;
  }

  return {
    history,
    revoked: () => revoked,
    goesOn: () => {
      const before = revoked;
      return eventually(() => revoked > before + someKeys);
    },
    missed: () => missed,
    stop: async () => {
      clearInterval(ticking);
      const seconds = (performance.now() - began) / 1000;
      stopped = true;
      await Promise.all([changing, ...underWay]);
      history.close();
      return seconds;
    },
  };
}
