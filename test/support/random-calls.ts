/** Calls made up at random: paths that some reader could take for another one, acting headers, bodies. */

export const actings = ['self', 'SELF', 'ext:a', 'ext:b', 'ext:none', 'ext:', '', 'nonsense', 'self, ext:a'];

export type Pick = <T>(list: readonly T[]) => T;

export function managementPath(
  random: () => number,
  pick: Pick,
  ids: readonly string[],
  keyIds: readonly string[],
): string {
  const words = [
    'usage',
    'openapi.json',
    'docs',
    'openap%69.json',
    'api-keys',
    'nothing',
    '',
    'usag%65',
    'caf%C3%A9',
    'caf%e9',
    'a%2Fb',
    'x'.repeat(300),
  ];
  const tail = pick([
    '',
    '/',
    `/${pick(ids)}`,
    `/${pick(ids)}/`,
    `/${pick(ids)}/api-keys`,
    `/${pick(ids)}/api-keys/${pick(keyIds)}`,
    `/${pick(ids)}/api-keys/${pick(keyIds)}/revoke`,
    `/${pick(ids)}/api-keys/${pick(keyIds)}/revok%65`,
    `/${pick(ids)}/nothing`,
    `/${pick(words)}`,
    `/${pick(words)}/${pick(words)}`,
    `/${pick(ids)}/${pick(words)}/${pick(words)}`,
  ]);
  return random() < 0.05 ? pick(disguised) : `/v1/sub-accounts${tail}`;
}

export function ordinaryPath(random: () => number, pick: Pick): string {
  if (random() < 0.2) return pick(disguised);
  return pick([
    '/',
    '/v1',
    '/v1/',
    '/v1/orders',
    '/v1/sub-accountsx',
    '/a%2Fb',
    '/caf%C3%A9',
    '/a;b=1/c',
    '/a?b=../c',
  ]);
}

/** Paths that some reader takes for another one. */
const disguised = [
  '/v1/./sub-accounts',
  '/v1/%2e/sub-accounts',
  '/V1/Sub-Accounts',
  '/v1//sub-accounts',
  '/a/../b',
  '/%',
];

/** A body that the operation accepts, where the path names one that takes a body. */
export function bodyFor(method: string, path: string): object | undefined {
  const tail = path.startsWith('/v1/sub-accounts') ? path.slice('/v1/sub-accounts'.length) : null;
  if (tail === '' && method === 'POST') return { name: 'new' };
  if (method === 'PATCH') return { name: 'changed' };
  return method === 'POST' && tail?.endsWith('/api-keys') ? { name: 'k' } : undefined;
}

/** The same numbers for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
