// class: app
import { Command } from 'commander';
import t from 'tap';
import { addCommands } from '../../../src/cli/run.ts';
import { commandLine } from '../../support/command-line.ts';
import { startCommands } from '../../support/commands.ts';

/** Commands that need files, a database or a billing system; other tests run them. */
const elsewhere = [
  'accounts delete',
  'erasures show',
  'sub-accounts delete',
  'import',
  'migrate',
  'restored',
  'serve',
  'sync',
  'usage export',
  'usage forget',
];

function commandsBelow(command: Command, group = ''): readonly (readonly [path: string, Command])[] {
  return command.commands.flatMap((each) => {
    const path = `${group}${each.name()}`;
    const runs = each.commands.length === 0 || each.registeredArguments.length > 0;
    return [...(runs ? [[path, each] as const] : []), ...commandsBelow(each, `${path} `)];
  });
}

t.test('every command writes JSON with --output json, as with --json', async (t) => {
  const { env, run, json, operator, parent: newParent } = await startCommands(t);
  /** Makes values of arguments and required options, by their names. */
  const newValues = async (): Promise<Readonly<Record<string, string>>> => {
    const parent = await newParent();
    const { id, keyId } = parent;
    const { body } = await operator('GET', `/events?account_id=${id}`);
    const [event] = body['data'] as { readonly id: string }[];
    await operator('PUT', '/plans/gold', { body: {} });
    return {
      'account-id': id,
      'event-id': event?.id ?? '',
      'expires-in': '0',
      'ids of keys': keyId,
      'ids of sub-accounts': (await parent.create()).id,
      'key-id': keyId,
      name: 'New',
      'plan-name': 'gold',
      shell: 'bash',
    };
  };
  const program = new Command();
  addCommands(program, {} as never);
  const commands = commandsBelow(program).filter(([path]) => !elsewhere.includes(path));
  t.ok(commands.length > 20);
  for (const [path, { options, registeredArguments }] of commands) {
    const values = await newValues();
    const valueOf = (name: string): string => {
      const value = values[name];
      if (value === undefined) throw new Error(`${path} needs a value for ${name}: add one to newValues.`);
      return value;
    };
    const [group = ''] = path.split(' ');
    const needed = registeredArguments.filter(({ required }) => required);
    const args = [
      ...needed.map((each) => valueOf(each.name() + (each.variadic ? ` of ${group}` : ''))),
      ...options.filter((each) => each.mandatory).map((each) => `${each.long}=${valueOf(each.name())}`),
      // These commands need at least one option.
      ...(path.endsWith(' update') ? ['--name=New'] : []),
    ];
    const { code, stdout, stderr } = await commandLine(env, ...path.split(' '), ...args, '--output', 'json');
    t.equal(code, 0, `${path}: ${stderr}`);
    t.type(JSON.parse(stdout || 'null'), Object, path);
  }
  const { 'key-id': keyId = '' } = await newValues();
  t.match(await json(`keys show ${keyId}`), { id: keyId });
  t.match(await run(`--output table keys show ${keyId}`), { code: 0, stdout: /^id +\w/ });
  t.match(await run('accounts list --output yaml'), { code: 64, stderr: /table, json/ });
});
