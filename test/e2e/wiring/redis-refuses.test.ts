// class: real
import t from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess } from '../../support/process.ts';
import { redisClient, startRedis } from '../../support/redis.ts';
import { startUpstream } from '../../support/upstreams.ts';

t.test('a gateway whose Redis refuses it is ready, and log and metrics say so', async (t) => {
  const redis = await startRedis(t);
  const admin = redisClient(t, redis.url);
  await admin.config('SET', 'requirepass', 'right');
  const { program, internalUrl } = await startProcess(t, {
    DATABASE_URL: await freshDatabase(t),
    UPSTREAM_URL: (await startUpstream(t)).url,
    REDIS_URL: redis.url.replace('redis://', 'redis://:wrong@'),
    ADMIN_TOKEN: operatorToken,
  });
  await becomes(internalUrl, 200);
  await program.prints(/"WRONGPASS"/);
  const said = program.log().filter(({ code }) => code === 'WRONGPASS');
  t.match(said, [{ level: 'warn', msg: 'Redis cannot be used: facts come from PostgreSQL' }]);
  t.notOk(program.stdout.includes('wrong'));
  const metric = async (): Promise<string | undefined> => {
    const text = await (await fetch(`${internalUrl}/metrics`)).text();
    return /^tenancy_gateway_shared_cache_connected(?:\{.*\})? (\d)$/m.exec(text)?.[1];
  };
  t.equal(await metric(), '0');
  admin.disconnect();
  await redis.kill();
  await program.prints(/"ECONNREFUSED"/);
});
