/** Configuration files for tests, and certificates to name in them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config.ts';
import type { Fault } from '../../src/config/fault.ts';
import { usageFolder } from './usage-folder.ts';

/** The part of tap's `t` that the helpers need. */
interface Folder {
  teardown(end: () => unknown): unknown;
}

/** Writes a text, such as a configuration, to a file in a folder of its own and returns its path. */
export function configFile(t: Folder, text: string, name = 'gateway.yaml'): string {
  const folder = mkdtempSync(join(tmpdir(), 'config-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** The configuration that `env` gives; throws where it has faults. */
export function goodConfig(env: Record<string, string> = {}): Config {
  const journal = env['DATABASE_URL'] === undefined ? {} : { USAGE_JOURNAL_DIR: usageFolder() };
  const loaded = loadConfig({ ...journal, ...env });
  if ('faults' in loaded) throw new Error(`unexpected faults: ${JSON.stringify(loaded.faults)}`);
  return loaded.config;
}

/** The faults that `env` gives; empty where there is none. */
export function faultsOf(env: Record<string, string>): readonly Fault[] {
  const loaded = loadConfig(env);
  return 'faults' in loaded ? loaded.faults : [];
}

/** Tests which values a file may have in one place: each of `bad` is one fault, whose place ends in `where`. */
export function settingTakes(
  t: Test,
  what: string,
  yamlOf: (value: string) => string,
  { good, bad, where = '' }: { good: readonly string[]; bad: readonly string[]; where?: string },
): void {
  void t.test(what, async (t) => {
    const of = (value: string) => faultsOf({ CONFIG: configFile(t, yamlOf(value)) });
    t.same(good.flatMap(of), []);
    const isFault = (value: string): boolean => {
      const [first, ...more] = of(value);
      return more.length === 0 && first?.where.endsWith(where) === true;
    };
    t.same(
      bad.filter((value) => !isFault(value)),
      [],
    );
  });
}
