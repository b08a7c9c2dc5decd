// @ts-check
import { execFileSync } from 'node:child_process';

/** @typedef {{ uid: number, gid: number }} Account */

/**
 * The account that PostgreSQL runs under: it refuses to run as root, so root lends it an unprivileged one.
 * @returns {Account | undefined} nothing when the caller's own account will do
 */
export function serverAccount() {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const uid = idOf('-u', name);
    const gid = idOf('-g', name);
    if (uid && gid) return { uid, gid };
  }
  throw new Error(
    'PostgreSQL cannot run as root, and there is no account named postgres or nobody to run it as',
  );
}

/**
 * @param {'-u' | '-g'} which
 * @param {string} name
 */
function idOf(which, name) {
  try {
    return Number(
      execFileSync('id', [which, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    );
  } catch {
    return undefined;
  }
}
