// @ts-check
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from '../../scripts/lib/run.mjs';
import { say } from '../../scripts/lib/say.mjs';

const OLDEST = 7;
const USUAL = ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin', '/home/linuxbrew/.linuxbrew/bin'];
/** Debian's packages ask this program whether they may start their service. */
const SERVICE_POLICY = '/usr/sbin/policy-rc.d';

/** Its progress is dropped; its complaints are shown. @type {import('node:child_process').StdioOptions} */
const QUIET = ['ignore', 'ignore', 2];

/** @typedef {{ server: string, version: string }} Redis */

/**
 * Finds a Redis server on this machine; root on a Debian-like system gets it installed.
 * @returns {Redis | undefined} nothing where there is none to be had
 */
export function findRedis() {
  const found = installed();
  if (found || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return found;
  say(`No Redis ${OLDEST} or newer on this machine: installing Debian's redis-server ...`);
  try {
    install();
  } catch (error) {
    say(String(error));
  }
  return installed();
}

/** @returns {Redis | undefined} */
function installed() {
  const given = process.env['TEST_REDIS_SERVER'];
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...USUAL];
  for (const server of [
    ...(given ? [given] : []),
    ...folders.map((folder) => join(folder, 'redis-server')),
  ]) {
    const version = versionOf(server);
    if (version && Number.parseInt(version) >= OLDEST) return { server, version };
  }
  return undefined;
}

/** @param {string} server */
function versionOf(server) {
  if (!existsSync(server)) return undefined;
  try {
    return /v=(\d+\.\d+\.\d+)/.exec(execFileSync(server, ['--version'], { encoding: 'utf8' }))?.[1];
  } catch {
    return undefined;
  }
}

function install() {
  const forbidsStart = !existsSync(SERVICE_POLICY);
  // Only the program is wanted, not a service that goes on running.
  if (forbidsStart) writeFileSync(SERVICE_POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, stdio: QUIET };
    run('apt-get', ['-qq', 'update'], options);
    run('apt-get', ['-qq', 'install', '--no-install-recommends', '--yes', 'redis-server'], options);
  } finally {
    if (forbidsStart) rmSync(SERVICE_POLICY, { force: true });
  }
}
