import type { Command } from 'commander';
import { storeCause } from '../adapters/postgres/connection/causes.ts';
import { SchemaMismatch, UnusableDatabase } from '../adapters/postgres/schema/applied.ts';
import { openPostgres } from '../adapters/postgres/store.ts';
import { exitCode, Failure } from './failure.ts';
import type { Context } from './context.ts';
import { commandConfig } from './target.ts';

/** `migrate`: brings the database tables up to date. It needs no running gateway. */
export function migrateCommand(program: Command, context: Context): void {
  program
    .command('migrate')
    .description('bring the tables of DATABASE_URL up to this version, under a lock')
    .action(async () => {
      const { store: config } = commandConfig(context.env);
      if (config.kind === 'embedded') {
        throw new Failure(
          exitCode.usage,
          'DATABASE_URL is not set.',
          'The embedded store needs no command: the gateway migrates it when it starts.',
        );
      }
      const store = openPostgres(config);
      const steps: string[] = [];
      try {
        const version = await store.migrate({
          onStep: (step) => {
            steps.push(step);
            context.output().note(`  ${step}`);
          },
          onWait: ({ step, waitsFor }) => context.output().note(`  ${step} waits for ${waitsFor}`),
        });
        context
          .output()
          .result({ version, steps }, () =>
            steps.length === 0 ? `Nothing to do: version ${version}.` : `Done: version ${version}.`,
          );
      } catch (error) {
        throw explain(error);
      } finally {
        await store.close();
      }
    });
}

function explain(error: unknown): Failure {
  if (error instanceof UnusableDatabase) return new Failure(exitCode.badConfiguration, error.message);
  if (error instanceof SchemaMismatch) return new Failure(exitCode.failed, error.message);
  const known = storeCause(error);
  if (known !== undefined) {
    const { code: reason, cause, remedy } = known;
    return new Failure(exitCode.unreachable, `${cause} (${reason}).`, remedy, { reason });
  }
  const cause = (error as Error).cause as { code?: string; message?: string } | undefined;
  const reason = cause?.code ?? cause?.message ?? (error as Error).message;
  return new Failure(
    exitCode.unreachable,
    `The database cannot be migrated (${reason}).`,
    'Does DATABASE_URL name a running PostgreSQL, and may its user create tables? Steps that were reported as done stay done.',
    { reason },
  );
}
