import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { CertificateConfig } from '../../config.ts';
import type { UncheckedFile } from '../gateway-file.ts';
import type { Path } from '../pointer.ts';
import { parseRedisAddress } from '../redis/redis-address.ts';
import type { SchemaFault } from '../validate.ts';

/** A certificate, and the setting that names its file. */
export interface LocatedCertificate extends CertificateConfig {
  readonly path: Path;
}

/**
 * One section's certificate files. Missing and unreadable files are skipped here, because the file checks report them.
 */
interface Files {
  readonly ca?: string | null | undefined;
  readonly client?: string | null | undefined;
}

/**
 * Reads the dates of one certificate in each file that the configuration names. In a certificate file, the first
 * certificate matters, because it is the one presented to peers. In a list of authorities, the certificate that stays
 * valid longest matters, because the list may still contain certificates that have been replaced.
 *
 * @param nowMs wall-clock time, milliseconds since 1970
 */
export function readCertificates(file: UncheckedFile, nowMs: number): readonly LocatedCertificate[] {
  const { listen, redis, routes, route_defaults: defaults, upstream_url: upstream } = file;
  const found = read('listener', null, ['listen', 'tls', 'cert_file'], listen.tls?.cert_file, nowMs);
  const all = routes.length > 0 ? routes : [{ prefix: '/', upstream, tls: defaults.tls }];
  for (const [index, route] of all.entries()) {
    if (route?.tls === undefined || route.upstream?.startsWith('https:') !== true) continue;
    const inherited = routes.length === 0 || isDeepStrictEqual(route.tls, defaults.tls);
    const path: Path = inherited ? ['route_defaults', 'tls'] : ['routes', index, 'tls'];
    const { ca_file: ca, cert_file: client } = route.tls;
    found.push(...both('upstream', route.prefix ?? null, { ca, client }, path, nowMs));
  }
  const tls = redis.url === undefined ? undefined : parseRedisAddress(redis.url)?.tls;
  found.push(...both('redis', null, { ca: tls?.caFile, client: tls?.certFile }, null, nowMs));
  return found;
}

/**
 * Reads one section's authorities and client certificate.
 *
 * @param path path of the section that names the files; `null` if they are named in `redis.url`
 */
function both(
  whose: 'upstream' | 'redis',
  route: string | null,
  { ca, client }: Files,
  path: Path | null,
  nowMs: number,
): LocatedCertificate[] {
  const at = (name: string): Path => (path === null ? ['redis', 'url'] : [...path, name]);
  return [
    ...read(`${whose}_ca`, route, at('ca_file'), ca, nowMs),
    ...read(`${whose}_client`, route, at('cert_file'), client, nowMs),
  ];
}

function read(
  use: CertificateConfig['use'],
  route: string | null,
  path: Path,
  file: string | null | undefined,
  nowMs: number,
): LocatedCertificate[] {
  if (file === undefined || file === null) return [];
  try {
    const certificates = certificatesIn(readFileSync(file, 'latin1'));
    const one = use.endsWith('_ca') ? longestOf(certificates, nowMs) : certificates[0];
    return one === undefined ? [] : [{ use, route, path, ...one }];
  } catch {
    return [];
  }
}

type Validity = Pick<CertificateConfig, 'notBeforeMs' | 'notAfterMs'>;

function certificatesIn(pem: string): Validity[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => {
    const { validFrom, validTo } = new X509Certificate(block);
    return { notBeforeMs: Date.parse(validFrom), notAfterMs: Date.parse(validTo) };
  });
}

function longestOf(authorities: readonly Validity[], nowMs: number): Validity | undefined {
  const begun = authorities.filter(({ notBeforeMs }) => notBeforeMs <= nowMs);
  return (begun.length > 0 ? begun : authorities).toSorted((a, b) => b.notAfterMs - a.notAfterMs)[0];
}

const dayMs = 86_400_000;
/**
 * A certificate that expires within this many milliseconds causes a warning. A certificate whose whole life is shorter
 * than 42 days causes a warning only in the last third of its life.
 */
const soonMs = 14 * dayMs;

/** Finds certificates that are not currently valid (`invalid`) or that expire soon (`soon`). */
export function checkDates(
  certificates: readonly LocatedCertificate[],
  nowMs: number,
): { readonly invalid: SchemaFault[]; readonly soon: SchemaFault[] } {
  const [invalid, soon]: [SchemaFault[], SchemaFault[]] = [[], []];
  for (const { path, notBeforeMs, notAfterMs } of certificates) {
    const leftMs = notAfterMs - nowMs;
    if (leftMs <= 0) invalid.push({ path, detail: `the certificate expired at ${iso(notAfterMs)}` });
    else if (notBeforeMs > nowMs)
      invalid.push({ path, detail: `the certificate is not valid before ${iso(notBeforeMs)}` });
    else if (leftMs < Math.min(soonMs, (notAfterMs - notBeforeMs) / 3))
      soon.push({ path, detail: `the certificate expires at ${iso(notAfterMs)}, in ${daysOf(leftMs)}` });
  }
  return { invalid, soon };
}

function iso(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

function daysOf(ms: number): string {
  const days = Math.floor(ms / dayMs);
  return days === 0 ? 'less than a day' : days === 1 ? 'one day' : `${days} days`;
}
