import { existsSync, readFileSync } from 'node:fs';

/** Commit that the build was made from, as `scripts/build.mjs` writes it; absent in sources and in builds without Git. */
const commit = new URL('../commit', import.meta.url);

/** Version of this build, from its package.json. An unreleased one names its commit: `1.0.0-dev.<commit>`. */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(text) as { readonly version: string };
  if (!version.endsWith('dev') || !existsSync(commit)) return version;
  return `${version}.${readFileSync(commit, 'utf8')}`;
}
