// class: built
/** What shells complete. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { installed } from '../support/docs.ts';
import { cli } from '../support/process.ts';

async function scriptFor(shell: string): Promise<string> {
  const { code, stdout, stderr } = await cli({}, 'completion', shell);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

/** Whether there is such a shell here. */
function has(shell: string): boolean {
  return spawnSync(shell, ['-c', 'true']).status === 0;
}

t.test('bash completes commands, options, values of options, and names of files', async (t) => {
  const { folder, PATH } = installed(t);
  const env = { ...process.env, PATH };
  writeFileSync(join(folder, 'completion.bash'), await scriptFor('bash'));
  mkdirSync(join(folder, 'here'));
  writeFileSync(join(folder, 'here', 'my gateway.yaml'), '');
  /** What TAB gives behind `line`, in a bash that has nothing else. */
  const completed = (line: string): string[] => {
    const words = line.split(' ');
    const script = [
      'source ../completion.bash || exit 1',
      'complete -p tenancy-gateway > /dev/null || exit 1',
      'COMP_WORDS=("$@") COMP_CWORD=$(( $# - 1 ))',
      '_tenancy_gateway tenancy-gateway "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"',
      'printf "%s\\n" "${COMPREPLY[@]}"',
    ].join('\n');
    const run = spawnSync('bash', ['--noprofile', '--norc', '-u', '-c', script, 'bash', ...words], {
      cwd: join(folder, 'here'),
      encoding: 'utf8',
      env,
    });
    t.same([run.status, run.stderr], [0, ''], line);
    return run.stdout.split('\n').filter((word) => word !== '');
  };
  t.same(completed('tenancy-gateway acc'), ['accounts']);
  for (const command of ['accounts', 'sub-accounts', 'keys', 'usage', 'whoami', 'completion', 'config'])
    t.ok(completed('tenancy-gateway ').includes(command), command);
  t.same(completed('tenancy-gateway keys r'), ['rotate', 'revoke']);
  t.same(
    completed('tenancy-gateway --output json keys ro'),
    ['rotate'],
    'the value of an option is no command',
  );
  t.same(completed('tenancy-gateway keys find --last4 keys --st'), ['--stdin', '--status']);
  t.same(completed('tenancy-gateway keys list --status '), ['active', 'expired', 'revoked']);
  t.same(completed('tenancy-gateway accounts list --status s'), ['suspended']);
  t.same(completed('tenancy-gateway usage --output '), ['table', 'json']);
  t.same(completed('tenancy-gateway keys create --name '), [], 'a value that only the caller knows');
  t.same(completed('tenancy-gateway keys show '), []);
  t.same(completed('tenancy-gateway config check my'), ['my gateway.yaml']);
  t.ok(completed('tenancy-gateway keys rotate --').includes('--expires-in'));
  t.notOk(completed('tenancy-gateway comp').includes('complete'));
});

t.test('fish completes the same, with descriptions', async (t) => {
  const script = await scriptFor('fish');
  if (!has('fish')) return t.comment('there is no fish here to read it (apt-get install fish)');
  const { folder, PATH } = installed(t);
  const env = { ...process.env, PATH };
  const completed = (line: string): string => {
    const run = spawnSync('fish', ['--no-config', '-c', `${script}\ncomplete -C '${line}'`], {
      encoding: 'utf8',
      env,
    });
    t.same([run.status, run.stderr], [0, ''], line);
    return run.stdout;
  };
  t.match(completed('tenancy-gateway keys ro'), /^rotate\t.+\n$/);
  t.equal(completed('tenancy-gateway accounts list --status s'), 'suspended\n');
  t.match(completed(`tenancy-gateway config check ${folder}/ten`), /tenancy-gateway/);
});

t.test('zsh completes the same, with descriptions', async (t) => {
  const script = await scriptFor('zsh');
  if (!has('zsh')) return t.comment('there is no zsh here to read it (apt-get install zsh)');
  const env = { ...process.env, PATH: installed(t).PATH };
  // What the script hands to zsh's own function, in place of a terminal with a key to press.
  const asked = (...words: readonly string[]): string => {
    const shown = `compdef() { }; _files() { print -r -- files }; _describe() { print -rl -- "\${(@P)2}" }`;
    const at = `words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=$#words; _tenancy_gateway`;
    const run = spawnSync('zsh', ['-f', '-c', `${shown}\n${script}\n${at}`], { encoding: 'utf8', env });
    t.same([run.status, run.stderr], [0, ''], words.join(' '));
    return run.stdout;
  };
  t.match(asked('tenancy-gateway', 'keys', 'ro'), /^rotate:.+\n$/);
  t.equal(asked('tenancy-gateway', 'accounts', 'list', '--status', 's'), 'suspended\n');
  t.match(asked('tenancy-gateway', 'config', 'check', ''), /^files\n/);
});

t.test('of a shell that is not known, those that are are named', async (t) => {
  t.match(await cli({}, 'completion', 'csh'), { code: 64, stderr: /bash, zsh, fish/ });
});
