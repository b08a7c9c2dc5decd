// class: app
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { freshDatabase } from '../support/postgres.ts';
import { migrated, rawSql } from '../support/store.ts';

const docs = new URL('../../docs/', import.meta.url);

t.test('each query in the docs runs on the schema as it is', async (t) => {
  const sql = rawSql(t, await freshDatabase(t, migrated));
  let run = 0;
  for (const name of readdirSync(docs).filter((each) => each.endsWith('.md'))) {
    const page = readFileSync(new URL(name, docs), 'utf8');
    for (const [, query = ''] of page.matchAll(/^```sql\n(select [^]*?)^```$/gm)) {
      await t.resolves(sql.unsafe(query), `${name}: ${query}`);
      run += 1;
    }
  }
  t.ok(run > 0);
});
