// class: pure
import { posix } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { headerNames } from '../../../src/domain/header-names.ts';
import { managementPath } from '../../../src/domain/paths.ts';
import { headerRules } from '../../../src/proxy/headers/header-rules.ts';
import { ingressReader } from '../../../src/proxy/ingress/ingress.ts';
import { compileTargets } from '../../../src/proxy/ingress/target.ts';

const prefixes = ['/', '/v1/rates', '/v1', '/API/x'];
const targetOf = compileTargets(prefixes);

t.test('plain paths go where they say', async (t) => {
  for (const [target, expected] of [
    ['/', 0],
    ['/a', 0],
    ['/v1', 2],
    ['/v1/', 2],
    ['/v1/x', 2],
    ['/v1x', 0],
    ['/v1/rates', 1],
    ['/v1/rates/x?y=/../z', 1],
    ['/v1/ratesx', 2],
    ['/API/x/y', 3],
    ['/API', 0],
  ] as const) {
    t.match(targetOf(target), { kind: 'route', route: expected }, target);
  }
  t.equal(targetOf(managementPath).kind, 'management');
  t.equal(targetOf(`${managementPath}/x?y`).kind, 'management');
  t.equal(compileTargets(['/a'])('/b').kind, 'none');
});

t.test('prefixes may end with a slash; two that differ by case alone are no two', async (t) => {
  t.match(compileTargets(['/a/'])('/a'), { kind: 'route' });
  t.throws(() => compileTargets(['/a', '/A']));
});

t.test('the address of an upstream is read once a route, and not for each other route', async (t) => {
  let reads = 0;
  const upstream = { enumerable: true, get: () => ((reads += 1), 'http://127.0.0.1:1') };
  const route = { open: null, scopes: { read: 'a', write: 'a' } };
  const routes = Array.from({ length: 100 }, (_, i) =>
    Object.defineProperty({ ...route, prefix: `/${i}` }, 'upstream', upstream),
  );
  const config = { routes, limits: { maxHeaders: 100 } } as unknown as Parameters<typeof ingressReader>[0];
  ingressReader(config, headerRules(headerNames()));
  t.ok(reads <= 2 * routes.length, `${reads}`);
});

t.test('a rejection says why', async (t) => {
  for (const [target, reason] of [
    ['http://x/', /must be a path/],
    ['/a\\b', /backslash/],
    ['/a/../b', /dot segment/],
    ['/a/%2e%2e/b', /dot segment/],
    ['/a/..%2E%2E/', /dot segment/],
    ['/a/...', /dot segment/],
    ['/a%0ab', /control byte/],
    ['/a#b', /#/],
    ['/a?b#c', /#/],
    ['/caf\xe9', /visible ASCII/],
    ['/a%', /percent-encoding/],
    ['/a%c0%aeb', /overlong/],
    ['/v1%2Frates', /below `\/v1\/rates`. If you mean that path/],
    ['//v1/sub-accounts', /below `\/v1\/sub-accounts`/],
    ['/V1/sub-accounts', /below `\/v1\/sub-accounts`/],
    ['/api/x', /below `\/API\/x`/],
    [`/${'//%3f'.repeat(100)}`, /too many ways: send it shorter/],
    [`/a${'%CC%81'.repeat(40)}`, /stack of accents/],
  ] as const) {
    const target_ = targetOf(target);
    t.equal(target_.kind, 'rejected', target);
    if (target_.kind === 'rejected') t.match(target_.problem, { code: 'invalid_target', detail: reason });
  }
});

/** Pieces of which the strangest paths can be built. */
const pieces = fc.constantFrom(
  ...['/', '//', '/v1', '/V1', '/sub-accounts', '/Sub-Accounts', '/%73ub-accounts', '/%2573ub-accounts'],
  ...[
    '/rates',
    '/%72ates',
    '/API',
    '/api',
    '/x',
    '.',
    '..',
    '/.',
    '/..',
    '%2e',
    '%252e',
    '%2E%2E',
    ';',
    ';x',
    '/;',
  ],
  ...[
    '%3b',
    '%2f',
    '%2F',
    '%252f',
    '%5c',
    '\\',
    '%00',
    '%0d%0a',
    '?',
    '%3f',
    '#',
    '%23',
    '%',
    '%25',
    '%c5%bf',
  ],
  ...[
    '%ef%bc%8f',
    '%ef%bc%8e',
    '%c0%ae',
    '%e9',
    '%c3%a9',
    'a',
    '-',
    '~',
    '@',
    ':',
    '*',
    ' ',
    '\t',
    '%20',
    '%2520',
    '%c2%a0',
    '+',
    '%2b',
    '/AP%c4%b1',
    '/ap%C4%B0',
    '%e2%80%8b',
    '%c2%ad',
    '\xe9',
    '\x00',
  ],
);
const targets = fc.array(pieces, { minLength: 1, maxLength: 10 }).map((parts) => parts.join(''));

/** What readers behind the gateway make of a path; none of it is the code under test. */
const readers: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => decodeURIComponent(path),
  (path) => decodeURIComponent(decodeURIComponent(path)),
  (path) => unescape(path),
  (path) => posix.normalize(path),
  (path) => posix.normalize(decodeURIComponent(path)),
  (path) => posix.normalize(decodeURIComponent(path).replaceAll('\\', '/')),
  (path) => new URL(path, 'http://host').pathname,
  (path) => new URL(`http://host${path}`).pathname,
  (path) => decodeURIComponent(new URL(`http://host${path}`).pathname),
  (path) => path.split(';')[0] ?? '',
  (path) => path.replace(/;[^/]*/g, ''),
  (path) => posix.normalize(decodeURIComponent(path).replace(/;[^/]*/g, '')),
  (path) => decodeURIComponent(path).split('?')[0] ?? '',
  (path) => decodeURIComponent(path).split('#')[0] ?? '',
  (path) => decodeURIComponent(path).split('\0')[0] ?? '',
  (path) => path.replace(/\/+/g, '/'),
  (path) => decodeURIComponent(path).normalize('NFKC'),
  (path) => decodeURIComponent(path).trimEnd(),
  (path) => decodeURIComponent(path.replaceAll('+', ' ')).trimEnd(),
  (path) => decodeURIComponent(path).replace(/[ıİ]/g, 'i'),
  (path) => decodeURIComponent(path).toUpperCase(),
  (path) => decodeURIComponent(path).replace(/[\u200b\u00ad]/g, ''),
  (path) => posix.normalize(eachSegment(decodeURIComponent(path), (segment) => segment.trimEnd())),
  (path) => posix.normalize(eachSegment(decodeURIComponent(path), asWindows)),
  (path) => posix.normalize(eachSegment(decodeURIComponent(path).replace(/;[^/]*/g, ''), asWindows)),
];

function eachSegment(path: string, read: (segment: string) => string): string {
  return path.split('/').map(read).join('/');
}

/** A name of a file or folder, without the dots and blanks at its end; dot segments stay what they are. */
function asWindows(segment: string): string {
  let name = segment.trimEnd();
  while (name.endsWith('.') && name !== '.' && name !== '..') name = name.slice(0, -1).trimEnd();
  return name;
}

t.test('no reader takes a path that is routed for one that leads elsewhere', async (t) => {
  let routed = 0;
  fc.assert(
    fc.property(targets, (target) => {
      const decision = targetOf(target);
      if (decision.kind === 'management') return within(target.split('?')[0] ?? '', managementPath);
      if (decision.kind !== 'route') return true;
      routed += 1;
      const path = target.split('?')[0] ?? '';
      return readers.every((read) => {
        const reading = attempt(() => read(path));
        return reading === undefined || landing(reading.toLowerCase()) === decision.route;
      });
    }),
    { numRuns: 20_000 },
  );
  t.ok(routed > 1000, `${routed} of the paths were routed`);
});

t.test('whatever a client sends, there is a decision', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (target) => {
      return ['management', 'route', 'none', 'rejected'].includes(targetOf(target).kind);
    }),
    { numRuns: 5_000 },
  );
});

function landing(path: string): number | 'management' {
  if (within(path, managementPath)) return 'management';
  let best = 0;
  for (const [route, prefix] of prefixes.entries()) {
    const longer = prefix.length > (prefixes[best] ?? '').length;
    if (route > 0 && longer && within(path, prefix.toLowerCase())) best = route;
  }
  return best;
}

function within(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
