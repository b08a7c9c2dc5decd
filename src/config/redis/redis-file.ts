import { Type } from 'typebox';
import { section, text } from '../keys.ts';

/** The part of the file about Redis. */
export const redis = section(
  'A shared cache between replicas. It saves reads of PostgreSQL and is never believed over it.',
  {
    url: Type.Optional(
      text(
        "`redis://host:6379/0`, `redis+sentinel://host1,host2/master` or `redis+cluster://host1,host2`, with `user:password@` before the hosts; `rediss` for TLS, which always verifies the server: by the machine's authorities, or those in `?cacert=<file>`; `cert=<file>&key=<file>` is for a Redis that asks for a certificate. Left out, there is no shared cache.",
        { format: 'redis-url', env: 'REDIS_URL' },
      ),
    ),
    mac_key_file: Type.Optional(
      text(
        'File with keys of at least 32 characters, one a line, that values in Redis are authenticated by: the first signs, all verify. With it, what another program writes to Redis is never believed. The same for all replicas; read at start. Left out, values are not authenticated.',
        { env: 'REDIS_MAC_KEY_FILE' },
      ),
    ),
  },
);
