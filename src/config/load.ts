import type { Config } from '../config.ts';
import { crossChecks } from './checks.ts';
import { originOf, overlayEnvironment, type Origins } from './environment.ts';
import type { Fault } from './fault.ts';
import type { GatewayFile, UncheckedFile } from './gateway-file.ts';
import { addTokenFiles } from './internal/token-files.ts';
import { makeConfig } from './make.ts';
import { formatPath, isMapping, removeAt, type Path } from './pointer.ts';
import { inheritRouteDefaults, namesUpstream } from './routes.ts';
import { nodeAt, withDefaults } from './schema.ts';
import { checkDates, readCertificates } from './tls/certificates.ts';
import { validate, type SchemaFault } from './validate.ts';
import { readYamlFile, type YamlFile } from './yaml-file.ts';

/** A configuration that may be used, with what will be wrong with it soon; or everything that is wrong with it. */
export type Loaded =
  { readonly config: Config; readonly warnings: readonly Fault[] } | { readonly faults: readonly Fault[] };

/** What the configuration is read for. */
export interface LoadOptions {
  /** `command`: only to find a gateway or its store. Faults between keys, such as a missing upstream, do not matter. */
  readonly purpose?: 'serve' | 'command';
  /**
   * Whether a certificate that has expired, or is not valid yet, is a fault. It is a warning where the process would not start
   * otherwise: a restart at night must not make an outage of what most clients may not even look at.
   */
  readonly datesOfCertificates?: 'fault' | 'warning';
  /** Wall-clock time. */
  readonly nowMs?: number;
}

/**
 * Reads the variables and the file that `CONFIG` names, in steps: read, lay the variables over the file, hold it
 * against the schema, check what no schema can say, make the typed value. Reads files; changes and starts nothing.
 */
export function loadConfig(env: NodeJS.ProcessEnv, options: LoadOptions = {}): Loaded {
  const { purpose = 'serve', datesOfCertificates = 'fault', nowMs = Date.now() } = options;
  const file = env['CONFIG'] ? readYamlFile(env['CONFIG']) : emptyFile;
  if ('faults' in file) return { faults: inOrder(file.faults) };
  const document = withoutEmpty(file.value);
  if (!isMapping(document))
    return { faults: [{ where: file.locate([]), detail: 'must be a mapping of keys' }] };

  const variables = overlayEnvironment(document, env);
  const tokens = purpose === 'serve' ? addTokenFiles(document) : { origins: [], faults: [] };
  const origins = new Map([...variables, ...tokens.origins]);
  const rejected = validate(document);
  const upstreamNamed = namesUpstream(document);
  const { database } = document;
  const databaseNamed = isMapping(database) && database['url'] !== undefined;
  for (const { path, incomplete } of rejected) if (incomplete === undefined) removeAt(document, path);
  const filled = withDefaults(inheritRouteDefaults(document)) as UncheckedFile;
  const certificates = purpose === 'serve' ? readCertificates(filled, nowMs) : [];
  const { invalid, soon } = checkDates(certificates, nowMs);
  const faults = [
    ...rejected,
    ...tokens.faults,
    ...(purpose === 'serve' ? crossChecks(filled, { origins, upstreamNamed, databaseNamed }) : []),
    ...(datesOfCertificates === 'fault' ? invalid : []),
  ];
  const located = (found: readonly SchemaFault[]): Fault[] =>
    inOrder(found.map(({ path, detail }) => ({ where: where(file, origins, path), detail })));
  if (faults.length > 0) return { faults: located(faults) };
  // Without a fault nothing was taken out, so nothing the schema requires is missing.
  const config = makeConfig(
    filled as GatewayFile,
    certificates.map(({ path: _, ...certificate }) => certificate),
  );
  return { config, warnings: located([...invalid, ...soon]) };
}

const emptyFile: YamlFile = { value: {}, locate: () => '' };

/** A key without a value is a key left out: a section whose lines are all commented out is no fault. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isMapping(value)) return value;
  const kept = Object.entries(value).filter(([, child]) => child !== null);
  return Object.fromEntries(kept.map(([key, child]) => [key, withoutEmpty(child)]));
}

function where(file: YamlFile, origins: Origins, path: Path): string {
  const variable = originOf(origins, path);
  if (variable !== undefined) return variable;
  const place = file.locate(path);
  return place === '' ? (nodeAt(path)?.env ?? formatPath(path)) : `${place} ${formatPath(path)}`.trimEnd();
}

/** In the order of the file; a value that breaks two rules in one way is one fault to the reader. */
function inOrder(faults: readonly Fault[]): Fault[] {
  const unique = new Map(faults.map((fault) => [`${fault.where} ${fault.detail}`, fault]));
  // Numeric, so that line 9 comes before line 10.
  return [...unique.values()].sort((a, b) => a.where.localeCompare(b.where, 'en', { numeric: true }));
}
