import { Pool } from '../../postgres/connection/pool.ts';
import { storeCause } from '../../postgres/connection/causes.ts';
import { migrate } from '../../postgres/schema/migrate.ts';
import { connectTo, openDatabase } from '../database.ts';
import type { CreationFailure } from './create.ts';

/**
 * Creates a database with all its tables in the given directory. Only `create.ts` runs this program; it is not for
 * manual use.
 */

const [databaseDir = ''] = process.argv.slice(2);
const migrationMs = 600_000;

// This process exits when the gateway that started it is gone, because nothing else will use the database.
process.once('disconnect', () => process.exit(1));
try {
  const db = await openDatabase(databaseDir);
  const pool = new Pool(
    connectTo(() => db),
    1,
  );
  await migrate(pool.withDeadline(migrationMs));
  await pool.close();
  await db.close();
  process.exit(0);
} catch (error) {
  const failure: CreationFailure = {
    message: error instanceof Error ? error.message : String(error),
    code: storeCause(error)?.code ?? null,
  };
  process.send?.(failure, () => process.exit(1));
}
