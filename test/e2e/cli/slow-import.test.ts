// class: built
/** An import whose calls are too large for a slow database. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, cli, startProcess, tempFolder } from '../../support/process.ts';
import { migrated, rawSql } from '../../support/store.ts';

t.test(
  'a call that is too slow is halved until the database keeps up, and none is taken for a lost store',
  async (t) => {
    const DATABASE_URL = await freshDatabase(t, migrated);
    const sql = rawSql(t, DATABASE_URL);
    const { internalUrl } = await startProcess(t, {
      ...{ DATABASE_URL, ADMIN_TOKEN: operatorToken, UPSTREAM_URL: 'http://127.0.0.1:9' },
    });
    await becomes(internalUrl, 200);
    // A statement may take two seconds: 200 rows at once cannot be had, nor 100 behind 100 others.
    await sql.unsafe(`
    create function slowly() returns trigger language plpgsql as $$ begin perform pg_sleep(0.012); return new; end $$;
    create trigger slowly before insert on api_key for each row execute function slowly()`);
    const rows = Array.from({ length: 400 }, (_, i) => ({
      ...{ type: 'api_key', account_external_id: 'slow', name: `Key ${i}`, scopes: [] },
      api_key: `acme_live_${String(i).padStart(30, '0')}`,
    }));
    const path = join(tempFolder(t), 'slow.jsonl');
    const account = { type: 'account', external_id: 'slow', name: 'Slow' };
    writeFileSync(path, [account, ...rows].map((row) => JSON.stringify(row)).join('\n'));
    const { code, stdout, stderr } = await cli(
      { ADMIN_TOKEN: operatorToken },
      '--url',
      internalUrl,
      'import',
      path,
    );
    t.equal(code, 0, stderr);
    t.match(stdout, /keys +400 +0 +0 +0/);
    t.match(stderr, /too slow for that many rows at once: 200 a call[^]*100 a call/);
    t.notMatch(stderr, /cannot be reached/);
  },
);
