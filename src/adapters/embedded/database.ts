import { PGlite } from '@electric-sql/pglite';
import postgres from 'postgres';
import { baseOptions, type Connect } from '../postgres/connection/sql.ts';
import { PgliteSocket } from './pglite-socket.ts';

const settings = {
  // The default of 128 MB for buffers is too much for a laptop. The write-ahead log (WAL) can be small, because
  // `startMaintenance` runs checkpoints.
  shared_buffers: '16MB',
  max_wal_size: '64MB',
  min_wal_size: '32MB',
};

/**
 * Opens the database in `databaseDir`; creates it if there is none.
 *
 * @throws an error with the engine's last output if the engine cannot start
 */
export async function openDatabase(databaseDir: string): Promise<PGlite> {
  const printed: string[] = [];
  const note = (line: string): boolean => printed.push(line) > 0;
  try {
    return await PGlite.create({
      dataDir: databaseDir,
      startParams: [
        ...PGlite.defaultStartParams,
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      onStdout: note,
      onStderr: note,
    });
  } catch (error) {
    throw new Error(
      `the embedded store in ${databaseDir} cannot be opened: ${printed.slice(-5).join('\n')}`,
      {
        cause: error,
      },
    );
  }
}

/**
 * Returns a function that connects postgres.js to the embedded database.
 *
 * @param db returns the database; called for each new connection, since the database may not be open yet
 */
export function connectTo(db: () => PGlite): Connect {
  // A cast is needed: postgres.js has the option `socket`, but its types lack it.
  return (extra = {}) =>
    postgres({ ...baseOptions, socket: () => new PgliteSocket(db()), ...extra } as typeof baseOptions);
}
