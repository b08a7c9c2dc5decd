// class: app
import t from 'tap';
import { startProxied } from '../support/gateway.ts';
import { headerNames } from '../../src/domain/header-names.ts';
import type { ClientResponse } from '../../src/http/client-request.ts';
import type { Shedding } from '../../src/limits/load-shedding.ts';
import { headerRules } from '../../src/proxy/headers/header-rules.ts';
import { dispatcher, ingressReader } from '../../src/proxy/ingress/ingress.ts';
import { Random } from '../support/coherence/random.ts';
import { startHeadListeners } from '../support/head-listeners.ts';
import { costliestTargets, dearestHead, messageOf, type HostileHead } from '../support/hostile-heads.ts';
import { charactersReadBy } from '../support/string-work.ts';

/** As long as a head may be by default, less what a request needs anyway. */
const mostBytes = 15_800;
/** Of text that one head may make the ingress look at: a hundred times its length, before it is known who asks. */
const mostCharacters = 100 * mostBytes;

const limits = { maxHeaders: 100 } as Parameters<typeof ingressReader>[0]['limits'];
const routes = ['/', '/v1/rates', '/v1', '/API/x'].map((prefix) => ({
  prefix,
  upstream: 'http://127.0.0.1:1',
  open: null,
  scopes: { read: prefix === '/' ? null : prefix, write: null },
}));
const ingress = ingressReader(
  { routes, limits } as unknown as Parameters<typeof ingressReader>[0],
  headerRules(headerNames('X-Service-', ['X-API-Key'])),
);

t.test('no target makes the gateway read it over and over', async (t) => {
  for (const piece of costliestTargets) {
    for (const bytes of [100, 300, 1_000, 4_000, mostBytes - 100]) {
      const target = `/${piece.repeat(bytes / piece.length)}`;
      const characters = costOf({ target, rawHeaders: [] });
      t.ok(characters < mostCharacters, `${piece}, ${bytes} bytes: ${characters}`);
    }
  }
});

t.test('nor does a head that a search made as dear as it can', async (t) => {
  for (const seed of [1, 2, 3]) {
    const { head, cost } = await dearestHead(new Random(seed), costOf, 1_500, mostBytes);
    t.ok(cost < mostCharacters, `${cost} characters: ${JSON.stringify(head).slice(0, 200)}`);
  }
});

t.test('nor with its line in the log, for the reference pages, or for the portal', async (t) => {
  for (const { name, starts, ask } of await startHeadListeners(t)) {
    for (const target of starts) await ask({ target, rawHeaders: [] });
    const costOf = (head: HostileHead) => charactersReadBy(() => ask(head));
    const { head, cost } = await dearestHead(new Random(1), costOf, 500, mostBytes, starts);
    t.ok(cost < mostCharacters, `${name}, ${cost} characters: ${JSON.stringify(head).slice(0, 200)}`);
  }
});

t.test('an offer of another protocol does not make it read twice', async (t) => {
  const target = `/${'/a%2520'.repeat(30)}`;
  let taken = false;
  const places = {
    reject: () => void (taken = true),
    management: () => t.fail(),
    proxy: () => t.fail(),
    broke: () => t.fail(),
  };
  const shedding = { active: false } as Shedding;
  const inward = dispatcher({ ingress, shedding, ...places });
  const offer = messageOf(
    { target, rawHeaders: ['Upgrade', 'websocket', 'Connection', 'upgrade'] },
    'websocket',
  );
  const once = costOf({ target, rawHeaders: [] });
  const offered = charactersReadBy(() => inward(offer, {} as ClientResponse));
  t.ok(taken);
  t.ok(offered < 1.5 * once, `${offered} and ${once}`);
});

t.test('honest targets have room', async (t) => {
  const { upstream, call } = await startProxied(t);
  for (const target of [
    `/plain/${'abc/'.repeat(3_500)}`,
    `/search?${'q=%2F%20a%252520&'.repeat(850)}`,
    `/blobs/${'x'.repeat(7_000)}%2F${'y'.repeat(7_000)}`,
    `/files/${encodeURIComponent('报告 最终版 (2).pdf').repeat(100)}`,
    `/${'deep/folder/'.repeat(60)}my%20file.`,
    `/redirect/${encodeURIComponent(`https://a.example/b?c=${encodeURIComponent('https://d.example/e//f?g=h&i=j')}`)}`,
    '/a;b=1;c=2/d;e.f/My%20Doc%20(1).%20/v1.2.//z%3Fa',
  ]) {
    t.equal((await call('GET', target)).status, 200, target.slice(0, 60));
    t.equal(upstream.received.at(-1)?.target, target);
  }
});

function costOf(head: HostileHead): number {
  const message = messageOf(head);
  return charactersReadBy(() => void ingress.read(message));
}
