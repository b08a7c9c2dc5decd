/** What clients that people use do with the gateway. For one of them, with more words: `npm run clients -- --only NAME`. */
import type { Test } from 'tap';
import { runMatrix, type Row } from './matrix.ts';

/** Expects each client that is wanted and there to do every case of docs/clients.md. */
export async function doesEveryCase(t: Test, wants: (client: string) => boolean): Promise<void> {
  const missing: Row[] = [];
  await runMatrix(t, {
    wants,
    done: (row) => {
      if (row.missing === undefined) t.same(failures(row), [], `${row.client}, ${row.version}`);
      else missing.push(row);
    },
  });
  for (const { client, missing: needs } of missing) {
    process.stderr.write(`NOT TESTED: ${client} is not on this machine; to get it: ${needs}\n`);
    t.pass(client, { skip: `not on this machine; to get it: ${needs}` });
  }
}

function failures({ outcomes }: Row): string[] {
  return Object.entries(outcomes).flatMap(([id, outcome]) =>
    outcome.kind === 'failed' ? [`${id}: ${outcome.why}`] : [],
  );
}
