// class: pure
import t from 'tap';
import Fastify from 'fastify';
import { installErrorReplies } from '../../src/http/errors.ts';
import { healthRoutes, type Unreadiness } from '../../src/ops/health.ts';

const because = (reason: Unreadiness['reason']): Unreadiness => ({ reason, detail: `because of ${reason}` });

t.test(
  'a process that listens is told from one that decides, and from one that starts or drains',
  async (t) => {
    let unready: readonly Unreadiness[] = [];
    const app = Fastify();
    t.teardown(() => app.close());
    installErrorReplies(app);
    healthRoutes(app, () => unready);
    const statuses = async (...reasons: Unreadiness['reason'][]) => {
      unready = reasons.map(because);
      const responses = await Promise.all(
        ['/livez', '/readyz', '/readyz/listening'].map((path) => app.inject(path)),
      );
      for (const { headers } of responses) t.equal(headers['cache-control'], 'no-store');
      return responses.map(({ statusCode }) => statusCode);
    };
    t.same(await statuses(), [200, 200, 200]);
    t.same(await statuses('starting'), [200, 503, 503]);
    t.same(await statuses('migrations_pending'), [200, 503, 503]);
    t.same(await statuses('lease_lapsed'), [200, 503, 200], 'it responds to each request, with 503');
    t.same(await statuses('draining'), [200, 503, 503]);
    t.same(await statuses('draining', 'lease_lapsed'), [200, 503, 503]);
    const { body } = await app.inject('/readyz/listening');
    t.match(JSON.parse(body), { status: 'unready', reasons: [{ reason: 'draining' }] });
  },
);
