import { Type } from 'typebox';
import { integer, section, text } from '../keys.ts';

/** The part of the file about PostgreSQL. */
export const database = section(
  'PostgreSQL. Without a url the embedded store keeps everything in `data_dir`, for one process on one machine.',
  {
    url: Type.Optional(
      text(
        '`postgres://user:password@host:5432/name`. Must reach a primary. Through a transaction pooler (PgBouncer) with `direct_url` beside it.',
        { format: 'postgres-url', env: 'DATABASE_URL' },
      ),
    ),
    direct_url: Type.Optional(
      text(
        'Where `url` leads to a transaction pooler: the same database without it. Each process has one session there, for its lease and `LISTEN`, and migrates over it.',
        { format: 'postgres-url', env: 'DATABASE_DIRECT_URL' },
      ),
    ),
    max_connections: integer(
      'Connections of this process at most, the one of the lease included. Those not needed are closed.',
      { minimum: 4, maximum: 1_000, default: 4 },
    ),
  },
);
