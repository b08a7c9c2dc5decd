import type { Config } from '../config.ts';
import { crossChecks } from './checks.ts';
import { originOf, overlayEnvironment, type Origins } from './environment.ts';
import type { Fault } from './fault.ts';
import type { GatewayFile, UncheckedFile } from './gateway-file.ts';
import { addTokenFiles } from './internal/token-files.ts';
import { readTokenFiles, tokensInFile } from './internal/operator-tokens.ts';
import { checkTokens, shortTokens } from './internal/tokens.ts';
import { makeConfig } from './make.ts';
import { readLogo } from './portal/logo.ts';
import { formatPath, isMapping, removeAt, type Path } from './pointer.ts';
import { inheritRouteDefaults, namesUpstream } from './routes.ts';
import { nodeAt, withDefaults } from './schema.ts';
import { checkDates, readCertificates } from './tls/certificates.ts';
import { validate, type SchemaFault } from './validate.ts';
import { readYamlFile, type YamlFile } from './yaml-file.ts';

/** A usable configuration with its warnings, or all the faults in an unusable configuration. */
export type Loaded =
  { readonly config: Config; readonly warnings: readonly Fault[] } | { readonly faults: readonly Fault[] };

/** Options for loading the configuration. */
export interface LoadOptions {
  /**
   * Why the configuration is loaded. A `command` only needs to find a gateway or its store, so the cross checks are
   * skipped. For example, a missing upstream is then no fault.
   */
  readonly purpose?: 'serve' | 'command';
  /**
   * Whether an expired or not yet valid certificate is a fault (the default) or a warning. A start uses `warning`: many
   * clients ignore certificate dates, and a fault would turn a restart into an outage.
   */
  readonly datesOfCertificates?: 'fault' | 'warning';
  /** Wall-clock time, milliseconds since 1970. */
  readonly nowMs?: number;
}

/**
 * Loads the configuration from the variables and the file that `CONFIG` names: reads the file, applies the variables,
 * validates against the schema, runs the cross checks and makes the typed configuration. Only reads files; does not
 * change or start anything.
 */
export function loadConfig(env: NodeJS.ProcessEnv, options: LoadOptions = {}): Loaded {
  const parts = loading(env, options);
  let part = parts.next();
  while (part.done !== true) part = parts.next();
  return part.value;
}

/** Does the work of {@link loadConfig} in parts: with 100 routes it takes some 300 ms, for which requests would wait. */
export function* loading(
  env: NodeJS.ProcessEnv,
  { purpose = 'serve', datesOfCertificates = 'fault', nowMs = Date.now() }: LoadOptions = {},
): Generator<void, Loaded, void> {
  const serves = purpose === 'serve';
  const file = env['CONFIG'] ? yield* readYamlFile(env['CONFIG']) : emptyFile;
  if ('faults' in file) return { faults: inOrder(file.faults) };
  const document = withoutEmpty(file.value);
  if (!isMapping(document))
    return { faults: [{ where: file.locate([]), detail: 'must be a mapping of keys' }] };

  const variables = overlayEnvironment(document, env);
  const added = serves ? addTokenFiles(document) : { origins: [], faults: [] };
  const origins = new Map([...variables, ...added.origins]);
  yield;
  const rejected = validate(document);
  const upstreamNamed = namesUpstream(document);
  const namesUrl = (section: unknown): boolean => isMapping(section) && section['url'] !== undefined;
  const databaseNamed = namesUrl(document['database']);
  const portalUrlNamed = namesUrl(document['portal']);
  for (const { path, incomplete } of rejected) if (incomplete === undefined) removeAt(document, path);
  const filled = withDefaults(inheritRouteDefaults(document)) as UncheckedFile;
  const inFiles = serves ? readTokenFiles(filled) : { tokens: [], faults: [] };
  const tokens = [...tokensInFile(filled), ...inFiles.tokens];
  const { logo, faults: logoFaults } = serves ? readLogo(filled) : { logo: null, faults: [] };
  yield;
  const certificates = serves ? readCertificates(filled, nowMs) : [];
  const { invalid, soon } = checkDates(certificates, nowMs);
  const faults = [...rejected, ...added.faults, ...inFiles.faults, ...logoFaults];
  const context = { origins, upstreamNamed, databaseNamed, portalUrlNamed };
  if (serves) faults.push(...checkTokens(tokens), ...crossChecks(filled, context));
  if (datesOfCertificates === 'fault') faults.push(...invalid);
  const located = (found: readonly SchemaFault[]): Fault[] =>
    inOrder(found.map(({ path, detail }) => ({ where: where(file, origins, path), detail })));
  if (faults.length > 0) return { faults: located(faults) };
  yield;
  // Only faulty values were removed from the document. There were no faults, so `filled` is complete.
  const config = makeConfig(
    filled as GatewayFile,
    certificates.map(({ path: _, ...certificate }) => certificate),
    tokens.map(({ path: _, ...token }) => token),
    logo,
  );
  const short = serves ? shortTokens(tokens) : [];
  return { config, warnings: located([...invalid, ...soon, ...short]) };
}

const emptyFile: YamlFile = { value: {}, locate: () => '' };

/** Removes settings without a value, so that a section with all its lines commented out is not a fault. */
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

/** Sorts faults by their order in the file and removes duplicates. */
function inOrder(faults: readonly Fault[]): Fault[] {
  const unique = new Map(faults.map((fault) => [`${fault.where} ${fault.detail}`, fault]));
  // Numeric comparison puts line 9 before line 10.
  return [...unique.values()].sort((a, b) => a.where.localeCompare(b.where, 'en', { numeric: true }));
}
