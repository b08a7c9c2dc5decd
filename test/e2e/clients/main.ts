/**
 * `npm run clients`: what clients that people use do with the gateway. Installs them into `.cache/clients`, runs every
 * case in the clear and over TLS, and ends with 1 where one failed.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runMatrix, type Row } from './matrix.ts';
import { pageFile, pageOf } from './page.ts';

const usage = `npm run clients -- [options]
  --only TEXT     clients whose name contains it; may be repeated
  --write-docs    write docs/clients.md, from a run of all clients
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    'write-docs': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(usage);
} else {
  const ends: (() => unknown)[] = [];
  try {
    process.exitCode = (await run()) ? 0 : 1;
  } finally {
    for (const end of ends) await end();
  }

  async function run(): Promise<boolean> {
    const began = performance.now();
    const rows = await runMatrix(
      { teardown: (end) => ends.unshift(end) },
      {
        wants: (name) => values.only.length === 0 || values.only.some((text) => name.includes(text)),
        done: (row) => say(linesOf(row)),
      },
    );
    say(`${((performance.now() - began) / 1000).toFixed(0)} s`);
    const missing = rows.flat().filter((row) => row.missing !== undefined);
    const failed = rows
      .flat()
      .filter(({ outcomes }) => Object.values(outcomes).some(({ kind }) => kind === 'failed'));
    if (values['write-docs']) {
      if (values.only.length > 0 || missing.length > 0)
        throw new Error('The page wants a run of all clients.');
      writeFileSync(pageFile, pageOf(rows));
    }
    return failed.length === 0;
  }
}

/** One line, and one more for each case that failed or is not for this client. */
function linesOf({ client, version, seconds, missing, outcomes }: Row): string {
  if (missing !== undefined) return `NOT RUN  ${client}: there is none here; to get it: ${missing}`;
  const failed = Object.entries(outcomes).filter(([, { kind }]) => kind === 'failed');
  const lines = Object.entries(outcomes).flatMap(([id, outcome]) =>
    outcome.kind === 'ok'
      ? []
      : [`         ${id}: ${outcome.kind === 'failed' ? 'FAILED, ' : 'not done, '}${outcome.why}`],
  );
  return [
    `${failed.length === 0 ? 'ok     ' : 'FAILED '}  ${client} (${version}), ${seconds.toFixed(1)} s`,
    ...lines,
  ].join('\n');
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
