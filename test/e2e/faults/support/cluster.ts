/** A PostgreSQL with synchronous standbys, which can take its place. */
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

  /** @param settings server parameters of all that will be primary */
  static async start(t: Scope, settings: Record<string, string> = {}): Promise<Cluster> {
    const cluster = new Cluster(t, await startPostgres(t));
    // A standby that is away for two checkpoints needs more of the log than is kept for it otherwise.
    await configure(cluster.primary, { wal_keep_size: '1GB', ...settings });
    await cluster.follow();
    return cluster;
  }

  get primary(): PrivateServer {
    return this.#primary;
  }

  /** The primary is killed, and never comes back; the standby is promoted. Returns its URL. */
  async failOver(): Promise<string> {
    const standby = this.#standby;
    if (standby === null) throw new Error('there is no standby');
    const old = this.#primary;
    await old.kill();
    await this.#promote(standby);
    await old.dispose();
    return standby.url;
  }

  /**
   * The primary is killed. One of two standbys is promoted and killed, then the other is promoted, to the same timeline number.
   * What is committed on the first alone is lost, so nothing that is judged may be.
   *
   * @param meanwhile what happens while the first is the primary, to its kill
   * @returns the URL of the second
   */
  async failOverTwice(meanwhile: (first: PrivateServer) => Promise<void>): Promise<string> {
    const first = this.#standby;
    if (first === null) throw new Error('there is no standby');
    const old = this.#primary;
    const second = await startStandby(this.#t, old);
    await waitForStandbys(old, 2);
    await old.kill();
    await first.promote();
    await waitForStandbys(first, 0);
    await meanwhile(first);
    await this.#promote(second);
    await Promise.all([old.dispose(), first.dispose()]);
    return second.url;
  }

  async #promote(standby: PrivateServer): Promise<void> {
    await standby.promote();
    this.#primary = standby;
    this.#standby = null;
  }

  /** Gives the primary a new standby. From then on a commit is on both before its client hears of it. */
  async follow(): Promise<void> {
    this.#standby = await startStandby(this.#t, this.#primary);
    await waitForStandbys(this.#primary, 1);
  }
}

/** Sets parameters in the server's own files, which its standbys are copied with. */
async function configure({ url }: PrivateServer, settings: Record<string, string>): Promise<void> {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => undefined });
  try {
    for (const [name, value] of Object.entries(settings))
      await sql.unsafe(`alter system set ${name} = '${value}'`);
    await sql`select pg_reload_conf()`;
  } finally {
    await sql.end();
  }
}

/** Lets commits wait for a number of standbys from now on. */
async function waitForStandbys({ url }: PrivateServer, standbys: number): Promise<void> {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => undefined });
  try {
    await sql.unsafe(
      `alter system set synchronous_standby_names = '${standbys === 0 ? '' : `${standbys} (*)`}'`,
    );
    await sql`select pg_reload_conf()`;
    await eventually(async () => {
      const { count } = await sql`select from pg_stat_replication where sync_state = 'sync'`;
      return count >= standbys;
    });
    // They have all that was committed before when they have this.
    await sql`select txid_current()`;
  } finally {
    await sql.end();
  }
}
