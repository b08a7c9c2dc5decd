/** Searches for the head that costs its reader most: what a client without a key can make a gateway do. */
import type { ClientRequest } from '../../src/http/client-request.ts';
import type { Random } from './coherence/random.ts';

/** A piece of text, again and again. */
interface Run {
  readonly piece: string;
  readonly times: number;
}

/** The head of a GET, made of runs, so that a search can make each longer, shorter or another one. */
interface Head {
  readonly start: string;
  readonly target: readonly Run[];
  readonly headers: readonly { readonly name: Run; readonly value: readonly Run[] }[];
}

/** A head as a reader gets it. */
export interface HostileHead {
  readonly target: string;
  /** Names and values alternating. */
  readonly rawHeaders: readonly string[];
}

/** Pieces of targets that cost 50 ms and more of a core, said often enough, before the work of reading one had a bound. */
export const costliestTargets = [
  ...[
    '////%2520',
    '//%3f',
    '//%2f%2f',
    '//a%20;',
    '//v1',
    '//+/',
    '%25252525',
    '/;',
    '%cc%95%cc%80',
    '%252520',
  ],
  ...['/a.php', '.a', '(a(', '(s(x))', ':$', '~1', '/a.php/%20', '/(s(x)).a', '/_next/data', ';/a.do'],
];

/** What paths are read in several ways for, what folding makes longer or has to sort, and what is plain. */
const targetPieces = [
  ...[
    '/',
    '//',
    '////',
    '/a',
    'a',
    '.',
    '..a',
    '/.a.',
    ';',
    '/;',
    ';a',
    '+',
    '/+',
    '%',
    '?',
    '?a=b&',
    ':',
    '~',
  ],
  ...[
    '.php',
    '/a.php',
    '/x.do/',
    '(a(',
    '(s(x))',
    ':$',
    '::$a',
    '~1',
    '/cgi-bin/',
    '/_next/data/a',
    '(',
    ')',
  ],
  ...[
    '%20',
    '%2520',
    '%252520',
    '%2f',
    '%252f',
    '%2f%2f',
    '%5c',
    '%255c',
    '%3f',
    '%23',
    '%3b',
    '%253b',
    '%2b',
  ],
  ...['%25', '%2525', '%25252525', '%41', '%2541', '%2e', 'a%2e', '%252e', '%c2%a0', '%c2%85', '%e3%80%80'],
  ...[
    '%e2%80%8b',
    '%c2%ad',
    '%ef%b7%ba',
    '%cc%95%cc%80',
    'a%cc%81',
    '%c4%b0',
    '%c3%9f',
    '%ef%bc%8f',
    '%ef%bc%8e',
  ],
  ...['%ff', '%c3', '%f0%9f%98%80', '/v1', '/v1/sub-accounts', '/%76%31'],
];
const namePieces = [
  'x',
  'x-',
  'X-A',
  '!',
  '~',
  "'",
  '.',
  'x-service-',
  'x-forwarded-',
  'proxy-',
  'x_',
  'connection-',
];
const names = [
  ...[
    'Connection',
    'Upgrade',
    'Authorization',
    'X-API-Key',
    'X-Service-Acting-Tenant',
    'Accept',
    'Cookie',
    'Forwarded',
  ],
  ...[
    'Accept-Encoding',
    'If-None-Match',
    'Origin',
    'User-Agent',
    'X-Forwarded-For',
    'X-Request-Id',
    'Transfer-Encoding',
    'Content-Length',
    'Expect',
    'Keep-Alive',
    'Proxy-A',
    'Via',
  ],
];
const valuePieces = [
  'a',
  ',',
  ', ',
  'a,',
  '\t',
  ' ',
  'close,',
  'keep-alive',
  'keep-alive,',
  'websocket',
  ', websocket',
  '%2f',
  '"',
  '1',
  ';q=1',
  'gzip;q=0.5,',
  'W/"a",',
  'Bearer ',
  'Basic ',
  'x_',
];
/** As long as a token of the portal. */
const likeToken = `Bearer ${'A'.repeat(64)}`;

/** Headers of one head: a request may have 100, its Host among them. */
const mostHeaders = 98;

/**
 * The dearest of many heads, by random search: the best so far is changed a little, again and again, and a change that
 * costs more stays.
 *
 * @param cost of a head, by the measure that counts
 * @param rounds how many changes are tried
 * @param mostBytes of a head
 * @param starts what targets begin with
 */
export async function dearestHead(
  random: Random,
  cost: (head: HostileHead) => number | Promise<number>,
  rounds: number,
  mostBytes: number,
  starts: readonly string[] = ['/'],
): Promise<{ readonly head: HostileHead; readonly cost: number }> {
  let best = { genes: randomHead(random, mostBytes, starts), cost: -Infinity };
  let current = best;
  for (let round = 0; round < rounds; round++) {
    // A search that has stopped getting anywhere begins anew.
    if (round % 100 === 0) current = { genes: randomHead(random, mostBytes, starts), cost: -Infinity };
    const genes = current.cost === -Infinity ? current.genes : changed(random, current.genes);
    const head = written(genes);
    if (sizeOf(head) > mostBytes) continue;
    const tried = { genes, cost: await cost(head) };
    if (tried.cost >= current.cost) current = tried;
    if (current.cost > best.cost) best = current;
  }
  return { head: written(best.genes), cost: best.cost };
}

/** Bytes of a head as it is sent, without the line of its Host. */
export function sizeOf({ target, rawHeaders }: HostileHead): number {
  const lines = rawHeaders.reduce((sum, text) => sum + text.length + 2, 0);
  return 'GET  HTTP/1.1\r\n'.length + target.length + lines;
}

/** A head as the ingress is given it. @param upgrade what it offers, if it does */
export function messageOf({ target, rawHeaders }: HostileHead, upgrade: string | null = null): ClientRequest {
  return {
    method: 'GET',
    url: target,
    rawHeaders: ['Host', 'gateway.test', ...rawHeaders],
    bodyLength: 0,
    upgrade,
    fault: null,
    header: () => undefined,
  } as unknown as ClientRequest;
}

function written({ start, target, headers }: Head): HostileHead {
  return {
    target: start + textOf(target),
    rawHeaders: headers.flatMap(({ name, value }, i) => {
      const text = textOf([name]);
      // Each of many made-up names is another one.
      return [names.includes(text) ? text : `${text}${i}`, textOf(value).trim()];
    }),
  };
}

function textOf(runs: readonly Run[]): string {
  return runs.map(({ piece, times }) => piece.repeat(times)).join('');
}

function randomHead(random: Random, mostBytes: number, starts: readonly string[]): Head {
  const forTarget = random.pick([0.02, 0.1, 0.5, 0.95]) * mostBytes;
  const count = random.pick([0, 0, 1, 3, mostHeaders]);
  const each = count === 0 ? 0 : (mostBytes - forTarget) / count / 1.3;
  return {
    start: random.pick(starts),
    target: starts.length > 1 && random.chance(0.5) ? [] : randomRuns(random, targetPieces, forTarget),
    headers: Array.from({ length: count }, () => randomHeader(random, each)),
  };
}

function randomHeader(random: Random, bytes: number): Head['headers'][number] {
  const known = random.chance(0.5);
  const piece = known ? random.pick(names) : random.pick(namePieces);
  const forName = known ? piece.length : Math.max(1, bytes * random.next());
  const times = known ? 1 : Math.max(1, Math.floor(forName / piece.length));
  if (piece === 'Authorization' && random.chance(0.3))
    return { name: { piece, times }, value: [{ piece: likeToken, times: 1 }] };
  return { name: { piece, times }, value: randomRuns(random, valuePieces, Math.max(0, bytes - forName)) };
}

function randomRuns(random: Random, pieces: readonly string[], bytes: number): Run[] {
  const count = 1 + random.below(3);
  return Array.from({ length: count }, () => {
    const piece = random.pick(pieces);
    return { piece, times: Math.max(1, Math.floor(bytes / count / piece.length)) };
  });
}

/** One gene is another one, and sometimes two. */
function changed(random: Random, head: Head): Head {
  const once = changedOnce(random, head);
  return random.chance(0.3) ? changedOnce(random, once) : once;
}

function changedOnce(random: Random, { start, target, headers }: Head): Head {
  if (headers.length === 0 || random.chance(0.6))
    return { start, target: changedRuns(random, target, targetPieces), headers };
  const at = random.below(headers.length);
  const one = headers[at] as Head['headers'][number];
  const other = random.chance(0.3)
    ? randomHeader(random, one.name.piece.length * one.name.times + textOf(one.value).length)
    : { ...one, value: changedRuns(random, one.value, valuePieces) };
  return { start, target, headers: random.chance(0.1) ? headers.slice(1) : headers.with(at, other) };
}

function changedRuns(random: Random, runs: readonly Run[], pieces: readonly string[]): readonly Run[] {
  if (runs.length === 0 || (runs.length < 6 && random.chance(0.2))) {
    return [...runs, { piece: random.pick(pieces), times: 1 + random.below(20) }];
  }
  const at = random.below(runs.length);
  const { piece, times } = runs[at] as Run;
  switch (random.below(4)) {
    case 0:
      return runs.with(at, { piece: random.pick(pieces), times });
    case 1:
      return runs.with(at, { piece, times: Math.max(1, Math.floor(times * random.between(0.3, 1))) });
    case 2:
      return runs.with(at, { piece, times: Math.ceil(times * random.between(1, 2)) });
    default:
      return runs.length > 1
        ? runs.toSpliced(at, 1)
        : runs.with(at, { piece: piece + random.pick(pieces), times });
  }
}
