import { promises, type LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { pause, type Timers } from '../../ports/timers.ts';
import type { Addresses } from './names.ts';

/** Maximum number of milliseconds that a look-up takes. */
const mostMs = 10_000;

/**
 * Milliseconds for which IPv6 addresses are awaited once the IPv4 addresses are known: some name servers ignore
 * questions for IPv6 addresses.
 */
const graceMs = 500;

/** Number of times that each name server is asked. c-ares waits less long for those that were quick before. */
const tries = 6;

/**
 * Creates a function that finds addresses in the hosts file or by DNS, without a thread. It minds the search domains
 * and `ndots` in resolv.conf, which `dns.Resolver` does not. Each look-up reads both files anew. All share a
 * `dns.Resolver` until resolv.conf changes: it asks a name server last that has not answered.
 *
 * @param servers name servers, if not those of the system
 */
export function resolver(
  timers: Timers,
  hostsFile = '/etc/hosts',
  resolvConf = '/etc/resolv.conf',
  servers?: readonly string[],
): (host: string) => Promise<Addresses> {
  const read = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');
  let latest: { readonly conf: string; readonly dns: promises.Resolver } | null = null;
  return async (host) => {
    const own = inHosts(await read(hostsFile), host);
    if (own.length > 0) return byFamily(own, 0);
    const conf = await read(resolvConf);
    if (latest?.conf !== conf) {
      latest = { conf, dns: new promises.Resolver({ tries }) };
      if (servers !== undefined) latest.dns.setServers(servers);
    }
    let callOff = (): void => undefined;
    const late = new Promise<never>((_, reject) => {
      callOff = timers.after(mostMs, () => reject(new Error(`${host} cannot be looked up in time`)));
    });
    return Promise.race([find(latest.dns, host, conf, timers), late]).finally(callOff);
  };
}

async function find(dns: promises.Resolver, host: string, conf: string, timers: Timers): Promise<Addresses> {
  for (const name of namesToAsk(host, conf)) {
    const found = await ask(dns, name, timers);
    if (found !== null) return found;
  }
  throw Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' });
}

/**
 * Returns `null` if the name has no addresses.
 *
 * @throws if that is unknown. The next search domain must then not be asked: it may have another host of that name
 */
async function ask(dns: promises.Resolver, name: string, timers: Timers): Promise<Addresses | null> {
  const ipv4 = dns.resolve4(name, { ttl: true });
  const ipv6 = dns.resolve6(name, { ttl: true });
  const none = (): Promise<[]> => pause(graceMs, timers).then(() => []);
  const late = ipv4.then(none, () => ipv6);
  const answers = await Promise.allSettled([Promise.race([ipv6, late]), ipv4]);
  const records = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  if (records.length > 0) {
    const addresses = records.map(({ address }) => address);
    return byFamily(addresses, 1000 * Math.min(...records.map(({ ttl }) => ttl)));
  }
  for (const each of answers) {
    const { code } = (each.status === 'rejected' ? each.reason : {}) as NodeJS.ErrnoException;
    if (code !== 'ENOTFOUND' && code !== 'ENODATA')
      throw new Error(`${name} cannot be looked up: ${code}`, { cause: each });
  }
  return null;
}

/** Returns a host's addresses in a hosts file. Names below `localhost` are always loopback (RFC 6761 §6.3). */
function inHosts(text: string, host: string): string[] {
  if (isIP(host) !== 0) return [host];
  const found = text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
    return isIP(address) !== 0 && names.includes(host) ? [address] : [];
  });
  return found.length === 0 && /(^|\.)localhost$/.test(host) ? ['::1', '127.0.0.1'] : found;
}

/** Returns the names to ask for, in turn: first the absolute one if it has `ndots` dots (resolv.conf(5)). */
function namesToAsk(host: string, resolvConf: string): string[] {
  if (host.endsWith('.')) return [host];
  const domains = [...resolvConf.matchAll(/^(?:search|domain)[ \t]+(.*)/gm)].at(-1)?.[1] ?? '';
  const [, ndots = '1'] = /^options\b.*\bndots:(\d+)/m.exec(resolvConf) ?? [];
  const below = domains
    .split(/\s+/)
    .filter(Boolean)
    .map((domain) => `${host}.${domain.replace(/^\.|\.$/g, '')}`);
  return host.split('.').length > Number(ndots) ? [host, ...below] : [...below, host];
}

/** IPv6 comes first (RFC 8305 §4): Node goes on to the next address if one does not respond. */
function byFamily(addresses: readonly string[], ttlMs: number): Addresses {
  const of = (family: number): LookupAddress[] =>
    addresses
      .filter((each) => isIP(each) === family)
      .slice(0, 64)
      .map((address) => ({ address, family }));
  return { families: [of(6), of(4)], ttlMs };
}
