import { foldHeaderName } from '../domain/header-names.ts';
import { checkMacKeys, checkTlsFiles } from './check-files.ts';
import { checkKeyHeaders, checkRouteHeaders, ordinaryHeaders } from './check-headers.ts';
import { checkRoutes } from './check-routes.ts';
import type { Origins } from './environment.ts';
import type { UncheckedFile } from './gateway-file.ts';
import { workersOf } from './make.ts';
import { checkUsageExport } from './usage/check-export.ts';
import type { SchemaFault } from './validate.ts';

/** What the checks must know beside the values. */
export interface CheckContext {
  readonly origins: Origins;
  /** An upstream was named, right or wrong. */
  readonly upstreamNamed: boolean;
  /** PostgreSQL was named, right or wrong. */
  readonly databaseNamed: boolean;
}

/** What no schema can say: faults between keys, and between the file and the machine. */
export function crossChecks(
  file: UncheckedFile,
  { origins, upstreamNamed, databaseNamed }: CheckContext,
): SchemaFault[] {
  return [
    ...checkListeners(file),
    ...checkTokens(file),
    ...checkDatabase(file),
    ...checkUpstream(file, upstreamNamed),
    ...checkWorkers(file, databaseNamed),
    ...checkRoutes(file, origins),
    ...checkRouteHeaders(file),
    ...checkKeyHeaders(file),
    ...checkTlsFiles(file),
    ...checkMacKeys(file),
    ...checkUsageExport(file),
    ...checkPrefix(file),
    ...checkDrain(file),
  ];
}

function checkListeners({ listen, internal }: UncheckedFile): SchemaFault[] {
  const samePort = listen.port === internal.port && listen.port !== 0;
  if (!samePort || !overlaps(listen.host, internal.host)) return [];
  return [
    {
      path: ['internal', 'port'],
      detail: 'must differ from listen.port (PORT): both listeners would take one address',
    },
  ];
}

function overlaps(a: string, b: string): boolean {
  const everywhere = ['0.0.0.0', '::'];
  return a === b || everywhere.includes(a) || everywhere.includes(b);
}

/** Of two names with one token, events could not say which. */
function checkTokens({ internal }: UncheckedFile): SchemaFault[] {
  const seen = new Set([internal.admin_token]);
  return Object.entries(internal.admin_tokens).flatMap(([name, token]) => {
    if (!seen.has(token)) {
      seen.add(token);
      return [];
    }
    return [{ path: ['internal', 'admin_tokens', name], detail: 'is the token of another operator, too' }];
  });
}

function checkDatabase({ database }: UncheckedFile): SchemaFault[] {
  if (database.direct_url === undefined || database.url !== undefined) return [];
  const detail = 'is for a pooler that database.url (DATABASE_URL) leads to, and that is missing';
  return [{ path: ['database', 'direct_url'], detail }];
}

function checkUpstream(file: UncheckedFile, upstreamNamed: boolean): SchemaFault[] {
  if (file.database.url === undefined || upstreamNamed) return [];
  const detail = 'an upstream is missing: set UPSTREAM_URL, or routes in the file that CONFIG names';
  return [{ path: ['upstream_url'], detail }];
}

function checkWorkers(file: UncheckedFile, databaseNamed: boolean): SchemaFault[] {
  if (databaseNamed || workersOf(file) <= 1) return [];
  const detail =
    'must be 1 on the embedded store, which one process at a time can open: for more, set DATABASE_URL';
  return [{ path: ['workers'], detail }];
}

function checkDrain({ drain_ms, drain_delay_ms }: UncheckedFile): SchemaFault[] {
  if (drain_delay_ms === 0 || drain_delay_ms < drain_ms) return [];
  return [{ path: ['drain_delay_ms'], detail: 'must be less than drain_ms, of which it is a part' }];
}

/** A prefix that takes an ordinary header would drop it from every request. */
function checkPrefix({ headers }: UncheckedFile): SchemaFault[] {
  const prefix = foldHeaderName(headers.prefix);
  const taken = ordinaryHeaders.find((name) => name.startsWith(prefix));
  if (taken === undefined) return [];
  return [
    {
      path: ['headers', 'prefix'],
      detail: `is too wide: it would drop ${taken} from every request`,
    },
  ];
}
