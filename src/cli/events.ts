import type { Command } from 'commander';
import type { Context } from './context.ts';
import { accountFilters, accountForms } from './find-account.ts';
import type { Listing } from './operator-api.ts';
import type { Event } from '../generated/operator-types.ts';
import { fields, printable, printableJson, table } from './output.ts';
import { moreNote, pageOptions, readList, type PageOptions } from './pages.ts';
import { pastForms, readPeriod, repeatable } from './times.ts';

interface ListOptions extends PageOptions {
  readonly account?: string;
  readonly subAccount?: string;
  readonly type?: string;
  readonly from?: string;
  readonly to?: string;
}

/** `events list | show`: shows changes, who made them and from which address. */
export function eventCommands(program: Command, context: Context): void {
  const events = program
    .command('events')
    .description('changes of accounts and keys: who made each, and from where');

  pageOptions(
    events
      .command('list')
      .description('list changes, newest first')
      .option('--account <id>', `of one account: ${accountForms}; of a parent with its sub-accounts`)
      .option('--sub-account <id>', 'of one sub-account')
      .option('--type <type>', 'of one kind, such as api_key.revoked')
      .option('--from <time>', `not before this: ${pastForms}`)
      .option('--to <time>', 'before this one'),
  ).action(async (options: ListOptions) => {
    const { account, subAccount, type } = options;
    const accounts = await accountFilters(context, account, subAccount);
    const period = readPeriod(options);
    const page = await readList<Listing<Event>>(context, '/events', options, {
      ...accounts,
      type,
      ...period,
    });
    context.output().result(page, () => showList(page, repeatable(options, period)));
  });

  events
    .command('show')
    .description('show one change: before and after')
    .argument('<event-id>')
    .action(async (id: string) => {
      const event = await context.api().call<Event>('GET', `/events/${encodeURIComponent(id)}`);
      context.output().result(event, () => show(event));
    });
}

/** Formats changes as lines of at most 120 characters. Long names are truncated; `events show` shows them in full. */
function showList(page: Listing<Event>, times: string): string {
  if (page.data.length === 0) return 'There are no such events.';
  const rows = page.data.map((event) => [
    event.created_at.replace(/\.\d+/, ''),
    event.type,
    shortened(printable(String(event.data.object['name'] ?? event.data.object['id'])), 16),
    shortened(actorOf(event), 17),
    event.id,
  ]);
  return table(['TIME', 'WHAT', 'OF', 'BY', 'ID'], rows) + moreNote(page, times);
}

function shortened(text: string, longest: number): string {
  const characters = [...text];
  return characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : text;
}

function show(event: Event): string {
  const { object, previous } = event.data;
  const changes = Object.entries(previous ?? {}).map(
    ([name, value]) => [name, `${printableJson(value)} → ${printableJson(object[name] ?? null)}`] as const,
  );
  const members = Object.entries(object).map(([name, value]) => [name, printableJson(value)] as const);
  return [
    fields([
      ['id', event.id],
      ['what', event.type],
      ['when', event.created_at],
      ['by', actorOf(event)],
      ['key', event.actor.key_id ?? '(none)'],
      ['from', event.address ?? '(unknown)'],
      ['request', event.request_id ?? '(unknown)'],
      ['account', event.account_id ?? '(none)'],
      ['sub-account', event.sub_account_id ?? '(none)'],
    ]),
    '',
    fields(changes.length > 0 ? changes : members),
  ].join('\n');
}

/** Formats the actor of an event, such as `operator alice` or `api_key production`. */
function actorOf({ actor }: Event): string {
  const name = actor.kind === 'portal' ? actor.user : actor.name;
  return name ? `${actor.kind} ${printable(name)}` : actor.kind;
}
