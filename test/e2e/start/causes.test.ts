// class: built
/** Why a gateway cannot use its store is said in one line with the remedy, alike in `/readyz`, the log and the command line. */
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { eventually } from '../../support/eventually.ts';
import { startPostgres } from '../../support/postgres.ts';
import { becomes, cli, startProcess, tempFolder, type GatewayProcess } from '../../support/process.ts';
import { rawSql } from '../../support/store.ts';
import type { PrivateServer, Scope } from '../../support/servers.ts';

const UPSTREAM_URL = 'http://127.0.0.1:9';

/** A server with roles and databases to fail with, each in its own way. Returns their URLs. */
async function startTroubled(t: Scope): Promise<Record<string, string>> {
  const folder = tempFolder(t);
  chmodSync(folder, 0o755);
  const hba = join(folder, 'pg_hba.conf');
  const rules = ['host all locked 127.0.0.1/32 scram-sha-256', 'host all all 127.0.0.1/32 trust'];
  writeFileSync(hba, `${rules.join('\n')}\nlocal all all trust\n`, { mode: 0o644 });
  const server = await startPostgres(t, { hba_file: hba });
  const sql = rawSql(t, server.url);
  await sql.unsafe("create role locked login password 'right'");
  await sql.unsafe('create role few login connection limit 0');
  await sql.unsafe('create role reader login');
  await sql.unsafe('alter role reader set default_transaction_read_only = on');
  await sql.unsafe('create role guest login');
  const as = (user: string, password = '', path?: string): string => {
    const url = new URL(server.url);
    [url.username, url.password] = [user, password];
    if (path !== undefined) url.pathname = path;
    return url.href;
  };
  return {
    '28P01': as('locked', 'hunter2'),
    '3D000': as('postgres', '', '/missing'),
    '53300': as('few'),
    '25006': as('reader'),
    '42501': as('guest'),
    ECONNREFUSED: 'postgres://u:hunter2@127.0.0.1:9/x',
  };
}

const words: Readonly<Record<string, RegExp>> = {
  '28P01': /refuses the user or its password/,
  '3D000': /no such database/,
  '53300': /no connection left/,
  '25006': /read-only/,
  '42501': /lacks a right/,
  '53100': /disk of PostgreSQL is full/,
  ECONNREFUSED: /Nothing listens/,
};

async function isSaid(t: Test, code: string, url: string): Promise<void> {
  const pattern = words[code] as RegExp;
  const { program, internalUrl } = await startProcess(t, { DATABASE_URL: url, UPSTREAM_URL });
  await program.prints(/"msg":"not ready/);
  await becomes(internalUrl, 503, 'starting');
  const line = program.log().find(({ msg }) => String(msg).startsWith('not ready'));
  t.match(line, { level: 'warn', code, msg: pattern });
  t.notOk(line !== undefined && 'err' in line, 'one line, without a stack');
  const body = (await (await fetch(`${internalUrl}/readyz`)).json()) as { reasons: { detail: string }[] };
  t.equal(`not ready: ${body.reasons[0]?.detail}`, line?.['msg']);
  const { code: exitCode, stderr } = await cli({ DATABASE_URL: url }, 'migrate');
  t.equal(exitCode, 69);
  const [first = ''] = stderr.split('\n');
  t.match(first, pattern);
  t.match(first, code);
  t.notMatch(program.stdout + program.stderr + stderr + JSON.stringify(body), 'hunter2');
  await program.kill('SIGKILL');
}

t.test('PostgreSQL that refuses, in each usual way', async (t) => {
  const urls = await startTroubled(t);
  for (const [code, url] of Object.entries(urls)) await t.test(code, (t) => isSaid(t, code, url));
});

t.test('a full disk of PostgreSQL', async (t) => {
  const server = await startPostgres(t);
  const cramped = await crampedDatabase(t, server, '9m');
  if (cramped === null) return void t.pass('a full disk', { skip: noSmallDisk });
  const { folder, url } = cramped;
  // The first session of a database writes files of its own there.
  await rawSql(t, url.href)`select`;
  execFileSync('sh', ['-c', `dd if=/dev/zero of=${join(folder, 'fill')} bs=64k 2>/dev/null || true`]);
  await isSaid(t, '53100', url.href);
});

t.test('a database that becomes read-only while a gateway runs, and is not any more', async (t) => {
  const server = await startPostgres(t);
  const { program, internalUrl } = await startProcess(t, {
    DATABASE_URL: server.url,
    UPSTREAM_URL,
    ...short,
  });
  await becomes(internalUrl, 200);
  const sql = rawSql(t, server.url);
  await sql.unsafe('alter system set default_transaction_read_only = on');
  await sql`select pg_reload_conf()`;
  await lapsesBecause(t, internalUrl, '25006');
  t.match(await logged(program, 'cannot be renewed'), { err: { cause: { code: '25006' } } });
  // This session is read-only by now, too.
  await sql.unsafe('set default_transaction_read_only = off');
  await sql.unsafe('alter system reset default_transaction_read_only');
  await sql`select pg_reload_conf()`;
  await becomes(internalUrl, 200);
});

t.test('a database whose disk fills while a gateway runs', async (t) => {
  const server = await startPostgres(t);
  const cramped = await crampedDatabase(t, server, '40m');
  if (cramped === null) return void t.pass('a full disk', { skip: noSmallDisk });
  const { folder, url } = cramped;
  const { internalUrl } = await startProcess(t, { DATABASE_URL: url.href, UPSTREAM_URL, ...short });
  await becomes(internalUrl, 200);
  // While this snapshot is held, each renewal needs a row version of its own, and so a page every now and then.
  const holder = rawSql(t, url.href);
  await holder.unsafe('set idle_in_transaction_session_timeout = 0');
  await holder.unsafe('begin isolation level repeatable read');
  await holder`select 1`;
  const fill = join(folder, 'fill');
  execFileSync('sh', ['-c', `dd if=/dev/zero of=${fill} bs=4k 2>/dev/null || true`]);
  await lapsesBecause(t, internalUrl, '53100');
  rmSync(fill);
  await becomes(internalUrl, 200);
});

/** A lease that is renewed often, so that it ends soon. */
const short = { COHERENCE_LEASE_MS: '1000' };

async function lapsesBecause(t: Test, internalUrl: string, code: string): Promise<void> {
  await becomes(internalUrl, 503, 'lease_lapsed');
  const detail = async (): Promise<string> => {
    const body = (await (await fetch(`${internalUrl}/readyz`)).json()) as { reasons?: { detail: string }[] };
    return body.reasons?.[0]?.detail ?? '';
  };
  let said = '';
  await eventually(async () => (said = await detail()).includes(code));
  t.match(said, words[code]);
}

async function logged(program: GatewayProcess['program'], text: string): Promise<unknown> {
  await program.prints(new RegExp(text));
  return program.log().find(({ msg }) => String(msg).includes(text));
}

t.test('a data directory that cannot be written to, or whose disk is full', async (t) => {
  // Neither root nor anyone else makes directories here.
  const forbidden = await startProcess(t, { DATA_DIR: '/sys/tenancy-gateway' });
  t.equal(await forbidden.program.ended(), 1);
  t.match(forbidden.program.stderr, /^the gateway cannot start: .*data directory.*DATA_DIR/);

  const folder = smallDisk(t, 'size=4m,mode=0700');
  if (folder === null) return void t.pass('a full disk', { skip: noSmallDisk });
  const full = await startProcess(t, { DATA_DIR: folder });
  t.equal(await full.program.ended(), 1);
  t.match(
    full.program.stderr,
    /^the gateway cannot start: The disk with the data directory is full \(ENOSPC\)/,
  );
});

const noSmallDisk = 'NO DISK WAS FILLED: it takes root to mount a small one';

/** A database on a file system of its own; `null` where this user may not mount one. */
async function crampedDatabase(t: Scope, server: PrivateServer, size: string) {
  const sql = rawSql(t, server.url);
  const [found] = await sql<{ data_directory: string }[]>`show data_directory`;
  const { uid } = statSync(found?.data_directory ?? '');
  const folder = smallDisk(t, `size=${size},mode=0700,uid=${uid}`);
  if (folder === null) return null;
  await sql.unsafe(`create tablespace small location '${folder}'`);
  await sql.unsafe('create database cramped template template0 tablespace small');
  const url = new URL(server.url);
  url.pathname = '/cramped';
  return { folder, url };
}

/** A file system of its own, which goes away with the test; `null` where this user may not mount one. */
function smallDisk(t: Scope, options: string): string | null {
  const folder = tempFolder(t);
  chmodSync(folder, 0o755);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'none', folder], { stdio: 'ignore' });
  } catch {
    return null;
  }
  t.teardown(() => execFileSync('umount', ['-l', folder]));
  return folder;
}
