/** A server address in the form that ioredis expects. */
export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

interface Credentials {
  readonly username: string | null;
  readonly password: string | null;
}

/**
 * PEM files for TLS. The server's certificate is always verified. If `caFile` is `null`, the machine's authorities are
 * used.
 */
export interface RedisTls {
  readonly caFile: string | null;
  /** Client certificate for servers that require one; set together with `keyFile`. */
  readonly certFile: string | null;
  readonly keyFile: string | null;
}

/** Redis address and topology, read from one URL. */
export type RedisAddress = Credentials & { readonly tls: RedisTls | null } & (
    | { readonly kind: 'single'; readonly at: RedisHost; readonly db: number }
    | {
        readonly kind: 'sentinel';
        readonly sentinels: readonly RedisHost[];
        /** Name of the master group. */
        readonly master: string;
        readonly db: number;
        readonly sentinelPassword: string | null;
      }
    | { readonly kind: 'cluster'; readonly nodes: readonly RedisHost[] }
  );

const form = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/;

/**
 * Reads an address:
 *
 * - `redis://[user][:password]@host[:6379][/db]`
 * - `redis+sentinel://[user][:password]@host1[:26379],host2/master-name[/db][?sentinel_password=…]`
 * - `redis+cluster://[user][:password]@host1[:6379],host2`
 *
 * `rediss` instead of `redis` means TLS, for Sentinels too. `?cacert=<file>` then names the authorities that certify
 * the server, and `cert=<file>&key=<file>` the client certificate, as with redis-cli. User, password and names are
 * percent-encoded; an IPv6 address is in brackets. Returns `undefined` if the string has any other form.
 */
export function parseRedisAddress(url: string): RedisAddress | undefined {
  const [, scheme, mode = 'single', userinfo = '', hosts = '', path = '', query = ''] = form.exec(url) ?? [];
  const credentials = readCredentials(userinfo);
  const at = readHosts(hosts, mode === 'sentinel' ? 26_379 : 6_379);
  const [first] = at ?? [];
  if (scheme === undefined || credentials === undefined || at === undefined || first === undefined)
    return undefined;
  const parameters = new URLSearchParams(query);
  const tls = readTls(scheme === 'rediss', parameters);
  if (tls === undefined) return undefined;
  const common = { ...credentials, tls };
  const segments = path === '' ? [] : path.split('/');

  if (mode === 'cluster')
    return segments.length === 0 ? { ...common, kind: 'cluster', nodes: at } : undefined;
  const [name, ...rest] = mode === 'sentinel' ? segments : ['', ...segments];
  const master = decode(name ?? '');
  const db = readDb(rest);
  if (master === undefined || db === undefined) return undefined;
  if (mode === 'single') return at.length === 1 ? { ...common, kind: 'single', at: first, db } : undefined;
  if (master === '') return undefined;
  const sentinelPassword = parameters.get('sentinel_password');
  return { ...common, kind: 'sentinel', sentinels: at, master, db, sentinelPassword };
}

/**
 * Returns `null` if the address does not use TLS. Returns `undefined` if the address is faulty: it names files without
 * using TLS, or it names a certificate without its private key or the reverse.
 */
function readTls(wanted: boolean, parameters: URLSearchParams): RedisTls | null | undefined {
  const [caFile = null, certFile = null, keyFile = null] = ['cacert', 'cert', 'key'].map(
    (name) => parameters.get(name) ?? undefined,
  );
  if ((certFile === null) !== (keyFile === null)) return undefined;
  if (wanted) return { caFile, certFile, keyFile };
  return caFile === null && certFile === null ? null : undefined;
}

function readCredentials(userinfo: string): Credentials | undefined {
  const colon = userinfo.indexOf(':');
  const username = decode(colon === -1 ? userinfo : userinfo.slice(0, colon));
  const password = decode(colon === -1 ? '' : userinfo.slice(colon + 1));
  if (username === undefined || password === undefined) return undefined;
  return { username: username === '' ? null : username, password: password === '' ? null : password };
}

function readHosts(text: string, defaultPort: number): RedisHost[] | undefined {
  const hosts: RedisHost[] = [];
  for (const each of text.split(',')) {
    const [, bracketed, plain, digits] =
      /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(each) ?? [];
    const host = bracketed ?? plain;
    const port = digits === undefined ? defaultPort : Number(digits);
    if (host === undefined || port < 1 || port > 65_535) return undefined;
    hosts.push({ host, port });
  }
  return hosts;
}

function readDb(segments: readonly string[]): number | undefined {
  const [db = '', ...more] = segments;
  if (more.length > 0 || !/^\d{0,5}$/.test(db)) return undefined;
  return Number(db);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
