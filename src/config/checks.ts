import { foldHeaderName } from '../domain/header-names.ts';
import { checkMacKeys, checkTlsFiles } from './check-files.ts';
import { checkKeyHeaders, checkRouteHeaders, checkSchemes, ordinaryHeaders } from './check-headers.ts';
import { checkRoutes } from './check-routes.ts';
import type { Origins } from './environment.ts';
import type { UncheckedFile } from './gateway-file.ts';
import { checkDatabasePassword } from './internal/tokens.ts';
import { workersOf } from './make.ts';
import { checkPortal } from './portal/check-portal.ts';
import { checkUsageExport } from './usage/check-export.ts';
import { checkUnitsHeader } from './usage/check-units-header.ts';
import type { SchemaFault } from './validate.ts';

/** Details of the document that can no longer be seen once defaults have been filled in. */
export interface CheckContext {
  readonly origins: Origins;
  /** Whether the document names an upstream, valid or not. */
  readonly upstreamNamed: boolean;
  /** Whether the document names a PostgreSQL address, valid or not. */
  readonly databaseNamed: boolean;
  /** Whether the document names the portal's address, valid or not. */
  readonly portalUrlNamed: boolean;
}

/**
 * Finds faults that a schema cannot express, such as settings that contradict each other or files that are missing on
 * this machine.
 */
export function crossChecks(
  file: UncheckedFile,
  { origins, upstreamNamed, databaseNamed, portalUrlNamed }: CheckContext,
): SchemaFault[] {
  return [
    ...checkListeners(file),
    ...checkPortal(file, portalUrlNamed),
    ...checkDatabase(file),
    ...checkDatabasePassword(file),
    ...checkUpstream(file, upstreamNamed),
    ...checkWorkers(file, databaseNamed),
    ...checkRoutes(file, origins),
    ...checkRouteHeaders(file),
    ...checkSchemes(file),
    ...checkKeyHeaders(file),
    ...checkTlsFiles(file),
    ...checkMacKeys(file),
    ...checkUsageExport(file),
    ...checkUnitsHeader(file),
    ...checkPrefix(file),
    ...checkDrain(file),
  ];
}

function checkListeners({ listen, internal, portal }: UncheckedFile): SchemaFault[] {
  const named = [
    { section: 'listen', env: 'PORT', ...listen },
    { section: 'internal', env: 'INTERNAL_PORT', ...internal },
    { section: 'portal', env: 'PORTAL_PORT', ...portal },
  ];
  return named.flatMap(({ section, port, host }, index) =>
    named
      .slice(0, index)
      .filter((other) => port === other.port && port !== 0 && port !== undefined)
      .filter((other) => overlaps(other.host, host))
      .map((other) => ({
        path: [section, 'port'],
        detail: `must differ from ${other.section}.port (${other.env}): two listeners cannot have one address`,
      })),
  );
}

function overlaps(a: string, b: string): boolean {
  const everywhere = ['0.0.0.0', '::'];
  return a === b || everywhere.includes(a) || everywhere.includes(b);
}

function checkDatabase({ database }: UncheckedFile): SchemaFault[] {
  if (database.direct_url === undefined || database.url !== undefined) return [];
  const detail = 'needs database.url (DATABASE_URL): it bypasses the pooler that database.url leads to';
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
    'must be 1 on the embedded store, which only one process can open: for more, set DATABASE_URL';
  return [{ path: ['workers'], detail }];
}

function checkDrain({ drain_ms, drain_delay_ms }: UncheckedFile): SchemaFault[] {
  if (drain_delay_ms === 0 || drain_delay_ms < drain_ms) return [];
  return [{ path: ['drain_delay_ms'], detail: 'must be less than drain_ms: it is a part of that time' }];
}

/** Rejects a header prefix that matches an ordinary header: the gateway would drop that header from every request. */
function checkPrefix({ headers }: UncheckedFile): SchemaFault[] {
  const prefix = foldHeaderName(headers.prefix);
  const taken = ordinaryHeaders.find((name) => name.startsWith(prefix));
  if (taken === undefined) return [];
  const detail = `is too wide: it would drop ${taken} from every request`;
  return [{ path: ['headers', 'prefix'], detail }];
}
