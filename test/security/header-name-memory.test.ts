// class: app, alone
import type { Socket } from 'node:net';
import t from 'tap';
import type { Admission } from '../../src/authz/proxied-request.ts';
import { headerNames, headerRule } from '../../src/domain/header-names.ts';
import { HeaderNameMemo } from '../../src/proxy/headers/header-rules.ts';
import { outboundHeaders } from '../../src/proxy/headers/request-headers.ts';
import { clientAddresses } from '../../src/http/trusted-proxies.ts';
import { headReader } from '../../src/proxy/ingress/framing.ts';
import { eventually } from '../support/eventually.ts';
import { startGateway } from '../support/gateway.ts';
import { bytesInUse, collect } from '../support/memory.ts';
import { rawClient, requestText } from '../support/raw-client.ts';
import { startRawUpstream } from '../support/upstreams.ts';

const names = headerNames();
const honest = [
  'Host',
  'User-Agent',
  'Accept',
  'Authorization',
  'X-Service-Acting-Tenant',
  'traceparent',
  'Cookie',
];
const identity = {
  caller: { accountId: 'a', keyId: 'k', scopes: [] },
  permit: { resolvedTenant: 'a', resolvedExternalId: null, parentTenant: 'a', parentExternalId: null },
} as unknown as Admission;

/** What the gateway does with the names of a request, and how many of them it had to work out. */
function proxied() {
  const tally = { workedOut: 0 };
  const rules = new HeaderNameMemo((name) => {
    tally.workedOut += 1;
    return headerRule(name, names);
  });
  const read = headReader(rules, 100);
  const outbound = outboundHeaders(rules, names);
  const route = {
    host: 'preserve',
    passAuthorization: false,
    underscoreHeaders: [],
    passHeaders: [],
  } as const;
  const about = { requestId: 'id', peer: undefined, peerTrusted: false, encrypted: false };
  const listed = (written: readonly string[]): string[] => written.flatMap((name) => [name, 'value']);
  const rejected = (written: readonly string[]): unknown =>
    read({ rawHeaders: listed(written), fault: null }, 'read');
  const sent = (written: readonly string[], admission: Admission | null): void => {
    rejected(written);
    outbound(listed(written), { ...about, identity: admission }, route);
  };
  const admitted = (written: readonly string[]): void => sent(written, identity);
  /** How many names had to be worked out during `work`. */
  const workedOut = (work: () => void): number => {
    tally.workedOut = 0;
    work();
    return tally.workedOut;
  };
  return {
    /** The caller is not known, or its key is not. */
    rejected,
    admitted,
    workedOut,
    forHonest: () => workedOut(() => admitted(honest)),
    /** By a route that says `preflight: pass`. */
    preflight: (written: readonly string[]) => sent(written, null),
  };
}

function flood(request: (written: readonly string[]) => unknown, requests: number, first = 0): void {
  for (let i = first; i < first + requests; i++)
    request(Array.from({ length: 90 }, (_, j) => `X-Odd-${i}-${j}`));
}

t.test('callers without a key leave no name behind, and take none from the others', async (t) => {
  const { rejected, preflight, admitted, workedOut, forHonest } = proxied();
  admitted(honest);
  t.equal(forHonest(), 0, 'names in use are remembered');
  for (const request of [rejected, preflight]) {
    flood(request, 100);
    t.equal(forHonest(), 0, 'they still are');
    t.equal(workedOut(() => request(['X-Odd-0-0'])) > 0, true, 'and nothing else is');
  }
});

t.test('a caller with a key takes names from the others for a request at most', async (t) => {
  const { admitted, forHonest } = proxied();
  flood(admitted, 100);
  admitted(honest);
  t.equal(forHonest(), 0, 'what comes after a flood is remembered');
  flood(admitted, 11, 1_000);
  t.equal(forHonest(), 0, 'and outlives a thousand other names');
  flood(admitted, 100, 2_000);
  admitted(honest);
  t.equal(forHonest(), 0, 'or comes back at once');
});

t.test('names of any length take no memory', async (t) => {
  // What a collection lets go of may hold more until its callbacks have run.
  const heapUsed = async (): Promise<number> => {
    for (let i = 0; i < 5; i++) {
      await new Promise((done) => setImmediate(done));
      collect();
    }
    return process.memoryUsage().heapUsed;
  };
  const most = 5_000_000;
  const upstream = await startRawUpstream(t, () => (_request, response) => response.end());
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const [whose, key] of [
    ['without a key', ''],
    ['with one', `Bearer ${parent.key}`],
  ] as const) {
    const client = await rawClient(t, port);
    const ask = async (i: number): Promise<void> => {
      const name = `X-${i}-`.padEnd(15_000, 'a');
      client.send(
        requestText('GET', '/', [[name, ''], ...(key === '' ? [] : [['Authorization', key] as const])]),
      );
      await client.response();
    };
    await ask(0);
    const before = await heapUsed();
    for (let i = 1; i <= 500; i++) await ask(i);
    // On a busy machine the last of them are let go of a moment later.
    let grown = Infinity;
    await eventually(async () => (grown = (await heapUsed()) - before) < most).catch(() => undefined);
    t.ok(
      grown < most,
      `500 requests ${whose}, each with a name of 15,000 characters, grew the heap by ${grown} bytes`,
    );
  }
});

t.test('what is remembered of a head does not keep the head', (t) => {
  const head = (line: string): string => Buffer.from(`${line}\r\n${'x'.repeat(50_000)}`).toString('latin1');
  const memo = new HeaderNameMemo((name) => headerRule(name, names));
  const addressOf = clientAddresses(['127.0.0.1']);
  const addresses: unknown[] = [];
  const before = bytesInUse();
  for (let i = 0; i < 1_000; i++) {
    memo.learn(head(`X-Some-Long-Name-${i}: 1`).slice(0, 17 + String(i).length));
    const forwarded = head(`203.0.113.${i % 100}, 198.51.100.${100 + (i % 100)}`).slice(0, 30);
    const socket = { remoteAddress: '127.0.0.1' } as Socket;
    addresses.push(addressOf({ rawHeaders: ['X-Forwarded-For', forwarded], socket }));
  }
  const kept = bytesInUse() - before;
  t.ok(kept < 10_000_000, `${kept} bytes`);
  t.equal(addresses.length, 1_000);
  t.end();
});
