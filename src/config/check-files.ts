import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { UncheckedFile } from './gateway-file.ts';
import { readMacKeys } from './redis/mac-keys.ts';
import type { Path } from './pointer.ts';
import { parseRedisAddress } from './redis/redis-address.ts';
import type { RouteSettings } from './route-file.ts';
import type { SchemaFault } from './validate.ts';

type UpstreamTls = RouteSettings['tls'];

/** Checks that the file of MAC keys for Redis exists and is readable, and that the keys are long enough. */
export function checkMacKeys({ redis }: UncheckedFile): SchemaFault[] {
  if (redis.mac_key_file === undefined) return [];
  try {
    readMacKeys(redis.mac_key_file);
    return [];
  } catch (error) {
    const detail = error instanceof TypeError ? error.message : problemOf(error);
    return [{ path: ['redis', 'mac_key_file'], detail }];
  }
}

/** Checks that the certificate and private key files exist, are readable PEM, and match. */
export function checkTlsFiles(file: UncheckedFile): SchemaFault[] {
  const { cert_file, key_file } = file.listen.tls ?? {};
  // The schema reports a listener that has only a certificate or only a private key.
  const complete = cert_file !== undefined && key_file !== undefined;
  const faults = complete ? checkPair(['listen', 'tls'], { cert_file, key_file }) : [];
  faults.push(...checkRedisTls(file.redis.url));
  faults.push(...checkUpstreamTls(['route_defaults', 'tls'], file.route_defaults.tls));
  for (const [index, route] of file.routes.entries()) {
    // Faults in inherited settings are reported only once, under route_defaults.
    if (route?.tls === undefined || isDeepStrictEqual(route.tls, file.route_defaults.tls)) continue;
    const path = ['routes', index, 'tls'];
    faults.push(...checkUpstreamTls(path, route.tls));
    if (route.upstream !== undefined && !route.upstream.startsWith('https:')) {
      faults.push({ path, detail: 'only an https: upstream can have tls' });
    }
  }
  return faults;
}

/** Checks the files named in the Redis address; faults point to `redis.url`. */
function checkRedisTls(url: string | undefined): SchemaFault[] {
  const { caFile, certFile, keyFile } = (url === undefined ? undefined : parseRedisAddress(url)?.tls) ?? {};
  const faults = checkUpstreamTls([], {
    ...(caFile != null && { ca_file: caFile }),
    ...(certFile != null && { cert_file: certFile }),
    ...(keyFile != null && { key_file: keyFile }),
  });
  const names: Readonly<Record<string, string>> = { ca_file: 'cacert', cert_file: 'cert', key_file: 'key' };
  return faults.map(({ path: [file], detail }) => ({
    path: ['redis', 'url'],
    detail: `${names[String(file)] ?? ''}: ${detail}`,
  }));
}

function checkUpstreamTls(path: Path, tls: UpstreamTls): SchemaFault[] {
  const faults = checkPair(path, tls);
  if (tls.ca_file !== undefined) faults.push(...checkAuthorities([...path, 'ca_file'], read(tls.ca_file)));
  return faults;
}

/**
 * Checks a file of certificate authorities. OpenSSL silently skips certificates that it cannot read, and if it skips
 * all of them, every connection fails.
 */
export function checkAuthorities(path: Path, reading: Reading): SchemaFault[] {
  if ('problem' in reading) return [{ path, detail: reading.problem }];
  const certificates = reading.text
    .toString('latin1')
    .match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
  try {
    if (certificates === null) throw new TypeError('no certificate');
    for (const certificate of certificates) new X509Certificate(certificate);
    return [];
  } catch {
    return [{ path, detail: notPem }];
  }
}

function checkPair(path: Path, tls: Partial<Pick<UpstreamTls, 'cert_file' | 'key_file'>>): SchemaFault[] {
  const { cert_file: certFile, key_file: keyFile } = tls;
  if (certFile === undefined && keyFile === undefined) return [];
  if (certFile === undefined || keyFile === undefined) {
    return [
      {
        path,
        detail: 'a certificate needs its key: set both cert_file and key_file',
      },
    ];
  }
  const cert = read(certFile);
  const key = read(keyFile);
  const faults = [...checkPem([...path, 'cert_file'], { cert }), ...checkPem([...path, 'key_file'], { key })];
  return faults.length > 0
    ? faults
    : checkPem([...path, 'key_file'], { cert, key }, 'is not the key of cert_file');
}

const notPem = 'the file is not PEM of the expected kind';

export type Reading = { readonly text: Buffer } | { readonly problem: string };

export function read(file: string): Reading {
  try {
    return { text: readFileSync(file) };
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

export function problemOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  return code === 'ENOENT' ? 'there is no such file' : `the file cannot be read (${code})`;
}

function checkPem(
  path: Path,
  readings: Partial<Record<'cert' | 'key', Reading>>,
  otherwise = notPem,
): SchemaFault[] {
  const options: Partial<Record<string, Buffer>> = {};
  for (const [name, reading] of Object.entries(readings)) {
    if ('problem' in reading) return [{ path, detail: reading.problem }];
    options[name] = reading.text;
  }
  try {
    createSecureContext(options);
    return [];
  } catch {
    return [{ path, detail: otherwise }];
  }
}
