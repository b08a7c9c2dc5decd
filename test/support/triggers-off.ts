/** Ways to keep the triggers that note facts from running. */
import postgres from 'postgres';

const triggers = (done: 'disable' | 'enable'): string[] =>
  ['account', 'api_key', 'plan'].map((table) => `alter table ${table} ${done} trigger user`);

export const disabledTriggers = triggers('disable');

/** By way: what silences the triggers of a whole server, in sessions that are open as well, and what ends that. */
const silences = {
  'a role for replication': ['set session_replication_role = replica', 'reset session_replication_role'].map(
    (setting) => [`alter system ${setting}`, 'select pg_reload_conf()'],
  ),
  'disabled triggers': [disabledTriggers, triggers('enable')],
};

export const waysToSilence = Object.keys(silences) as (keyof typeof silences)[];

export async function withTriggersOff(
  url: string,
  way: keyof typeof silences,
  work: () => Promise<void>,
): Promise<void> {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => undefined });
  const [off = [], on = []] = silences[way];
  try {
    // One table at a time: holding one, and waiting for another, could block changes that do the contrary.
    for (const statement of off) await sql.unsafe(statement);
    await work();
  } finally {
    for (const statement of on) await sql.unsafe(statement);
    await sql.end({ timeout: 1 });
  }
}
