// class: built
import { request, type IncomingMessage } from 'node:http';
import t from 'tap';
import { operatorToken } from '../support/apis.ts';
import { configFile } from '../support/config-files.ts';
import { freshDatabase } from '../support/postgres.ts';
import { becomes, startProcess } from '../support/process.ts';
import { migrated, rawSql } from '../support/store.ts';

t.test('a live tail ends when its replica drains, and leaves nothing behind', async (t) => {
  const databaseUrl = await freshDatabase(t, migrated);
  const { program, internalUrl } = await startProcess(t, {
    DATABASE_URL: databaseUrl,
    UPSTREAM_URL: 'http://127.0.0.1:2',
    ADMIN_TOKEN: operatorToken,
    CONFIG: configFile(t, 'drain_delay_ms: 3000\n'),
  });
  await becomes(internalUrl, 200);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${operatorToken}` };
    request(`${internalUrl}/admin/v1/live`, { headers, agent: false }, resolve).on('error', reject).end();
  });
  const over = new Promise<boolean>((resolve) => {
    response.resume().on('end', () => resolve(true));
    response.on('error', () => resolve(false));
  });
  const exited = program.kill('SIGTERM');
  t.equal(await over, true, 'the stream is complete: it ends, and is not cut');
  t.equal(await exited, 0);
  const sql = rawSql(t, databaseUrl);
  t.same(await sql`select id from tail`, []);
  t.same(await sql`select replica from replica_figures`, []);
});
