import { Type } from 'typebox';
import { section, text } from '../setting-types.ts';

/** The section `redis` of the configuration file. */
export const redis = section(
  'A cache that replicas share. It saves reads of PostgreSQL and never overrides it.',
  {
    url: Type.Optional(
      text(
        "`redis://host:6379/0`, `redis+sentinel://host1,host2/master` or `redis+cluster://host1,host2`, with `user:password@` before the hosts. `rediss` instead of `redis` means TLS: the server is always verified, by the machine's authorities or those in `?cacert=<file>`; `cert=<file>&key=<file>` is for a Redis that requires a client certificate. Left out: there is no shared cache.",
        { format: 'redis-url', env: 'REDIS_URL' },
      ),
    ),
    mac_key_file: Type.Optional(
      text(
        'File with keys of at least 32 characters, one per line, that authenticate values in Redis: the first key signs, all keys verify. Values that another program writes to Redis are then ignored. All replicas need the same keys. Read at start. Left out: values are not authenticated.',
        { env: 'REDIS_MAC_KEY_FILE' },
      ),
    ),
  },
);
