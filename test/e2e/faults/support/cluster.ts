/** A PostgreSQL with a synchronous standby, which can take its place. */
import postgres from 'postgres';
import { eventually } from '../../../support/eventually.ts';
import { startPostgres, startStandby } from '../../../support/postgres.ts';
import type { PrivateServer, Scope } from '../../../support/servers.ts';

export class Cluster {
  readonly #t: Scope;
  #primary: PrivateServer;
  #standby: PrivateServer | null = null;

  private constructor(t: Scope, primary: PrivateServer) {
    this.#t = t;
    this.#primary = primary;
  }

  /** @param settings server parameters of the primary */
  static async start(t: Scope, settings: Record<string, string> = {}): Promise<Cluster> {
    const cluster = new Cluster(t, await startPostgres(t, settings));
    await cluster.follow();
    return cluster;
  }

  get primary(): PrivateServer {
    return this.#primary;
  }

  /** The primary is killed, and never comes back; the standby is promoted. Returns where it is. */
  async failOver(): Promise<{ host: string; port: number }> {
    const standby = this.#standby;
    if (standby === null) throw new Error('there is no standby');
    const old = this.#primary;
    await old.kill();
    await standby.promote();
    this.#primary = standby;
    this.#standby = null;
    await old.dispose();
    const { hostname, port } = new URL(standby.url);
    return { host: hostname, port: Number(port) };
  }

  /** Gives the primary a new standby. From then on a commit is on both before its client hears of it. */
  async follow(): Promise<void> {
    this.#standby = await startStandby(this.#t, this.#primary);
    const sql = postgres(this.#primary.url, { max: 1, onnotice: () => undefined });
    try {
      await sql.unsafe(`alter system set synchronous_standby_names = '*'`);
      await sql`select pg_reload_conf()`;
      await eventually(async () => {
        const [state] = await sql`select from pg_stat_replication where sync_state = 'sync'`;
        return state !== undefined;
      });
    } finally {
      await sql.end();
    }
  }
}
