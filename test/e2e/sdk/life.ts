/**
 * One life of a sub-account, by the client of this package and by generated ones in Python and Go, against a live gateway: create, list
 * all of them, act as one, usage, mint, rotate, revoke, errors. docs/sdk.md says how the clients are generated; so does this.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { findTool } from '../../../bench/lib/tools.ts';
import { TenancyClient } from '../../../src/client/client.ts';
import { installedOnce } from '../../support/installed-once.ts';
import { startReplicas } from '../../support/replicas.ts';

const execute = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const programs = fileURLToPath(new URL('programs/', import.meta.url));
const cache = join(root, '.cache/sdk');
const document = join(root, 'src/generated/sub-accounts.json');
const register = join(root, 'scripts/typescript/register.mjs');

/** Expects the clients in these languages to lead one life beside `many` sub-accounts. */
export async function leadsOneLife(
  t: Test,
  many: number,
  languages: readonly ('TypeScript' | 'Python' | 'Go')[],
): Promise<void> {
  const replicas = await startReplicas(t);
  const parent = await replicas.parent(['sub_accounts:read', 'sub_accounts:write']);
  const client = new TenancyClient({ baseUrl: replicas.origin, apiKey: parent.key });
  let left = many;
  const make = async (): Promise<void> => {
    while (left > 0) await client.subAccounts.create({ name: `Sub ${left--}` });
  };
  await Promise.all(Array.from({ length: 8 }, make));

  let present = many;
  const lives = async (language: string, how: (() => Promise<Run>) | string): Promise<void> => {
    if (typeof how === 'string') {
      t.comment(`NOT TRIED: the client in ${language} needs ${how}`);
      return;
    }
    const { command, args, cwd, env } = await how();
    const { stdout } = await execute(command, args, {
      cwd,
      env: { ...process.env, ...env, GATEWAY_URL: replicas.origin, API_KEY: parent.key },
    });
    present += 1;
    const expected = { ...life, listed: present };
    t.same(JSON.parse(stdout), expected, language);
  };
  const all = {
    TypeScript: async () => ({
      command: process.execPath,
      args: ['--import', register, 'life.mjs'],
      cwd: programs,
    }),
    Python: findTool('python3') ? python : 'python3',
    Go: findTool('go') ? () => go(t) : 'Go 1.24',
  };
  for (const language of languages) await lives(language, all[language]);
}

interface Run {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What each program prints. */
const life = {
  made: ['Ada', 'active'],
  acted_as: true,
  usage: 1,
  minted: [['a:b'], true],
  rotated: true,
  revoked: 'revoked',
  unknown: [404, 'not_found'],
  taken: [409, 'external_id_taken'],
};

async function python(): Promise<Run> {
  const folder = join(cache, 'python');
  const venv = join(folder, 'venv');
  const requirements = join(programs, 'requirements.txt');
  await installedOnce(folder, readFileSync(requirements, 'utf8'), 'access to PyPI', async () => {
    await execute('python3', ['-m', 'venv', '--clear', venv]);
    const quiet = ['--quiet', '--disable-pip-version-check'];
    await execute(join(venv, 'bin/python'), ['-m', 'pip', 'install', ...quiet, '-r', requirements]);
  });
  const client = join(folder, 'tenancy_gateway_client');
  const options = ['--path', document, '--meta', 'none', '--output-path', client, '--overwrite'];
  await execute(join(venv, 'bin/openapi-python-client'), ['generate', ...options], { cwd: folder });
  return {
    command: join(venv, 'bin/python'),
    args: [join(programs, 'life.py')],
    cwd: folder,
    env: { PYTHONPATH: folder },
  };
}

async function go(t: Test): Promise<Run> {
  const folder = join(cache, 'go');
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(programs, 'go'), folder, { recursive: true });
  mkdirSync(join(folder, 'gateway'));
  const env = { ...process.env, GOTOOLCHAIN: 'local' };
  const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
  const options = ['-generate', 'types,client', '-package', 'gateway', '-o', 'gateway/gateway.go', document];
  await execute('go', ['run', generator, ...options], { cwd: folder, env });
  await execute('go', ['vet', './...'], { cwd: folder, env });
  await execute('go', ['build', '-o', 'life', '.'], { cwd: folder, env });
  t.comment((await execute('go', ['version'])).stdout.trim());
  return { command: join(folder, 'life'), args: [], cwd: folder };
}
