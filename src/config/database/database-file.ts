import { Type } from 'typebox';
import { integer, section, text } from '../setting-types.ts';

/** The section `database` of the configuration file. */
export const database = section(
  'PostgreSQL. Without a url the embedded store keeps all data in `data_dir`, for one process on one machine.',
  {
    url: Type.Optional(
      text(
        '`postgres://user:password@host:5432/name`. It must reach a primary. If it leads to a transaction pooler (PgBouncer), set `direct_url` too.',
        { format: 'postgres-url', env: 'DATABASE_URL' },
      ),
    ),
    direct_url: Type.Optional(
      text(
        'Address of the same database without the pooler, if `url` leads to a transaction pooler. Each process keeps one session there for its lease and `LISTEN`, and runs migrations over it.',
        { format: 'postgres-url', env: 'DATABASE_DIRECT_URL' },
      ),
    ),
    max_connections: integer(
      'Most connections of this process, the one for the lease included. Unused ones are closed.',
      { minimum: 4, maximum: 1_000, default: 4 },
    ),
  },
);
