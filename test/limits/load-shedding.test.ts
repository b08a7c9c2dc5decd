import t from 'tap';
import Fastify from 'fastify';
import { installErrorReplies } from '../../src/http/errors.ts';
import { overload, shedLoad } from '../../src/limits/load-shedding.ts';
import { eventually } from '../support/eventually.ts';

const limits = { maxEventLoopDelayMs: 100, maxHeapBytes: 1000 };

t.test('one late window is a pause that is over; two in a row are too much', (t) => {
  const isTooMuch = overload(limits);
  const late = { delayMs: 101, heapBytes: 0 };
  const fine = { delayMs: 100, heapBytes: 1000 };
  t.same([late, fine, late, late, late, fine, late].map(isTooMuch), [
    false,
    false,
    false,
    true,
    true,
    false,
    false,
  ]);
  t.end();
});

t.test('a full heap counts like a late loop, and a limit of 0 is none', (t) => {
  const isTooMuch = overload(limits);
  const full = { delayMs: 0, heapBytes: 1001 };
  t.same([full, full].map(isTooMuch), [false, true]);
  const unlimited = overload({ maxEventLoopDelayMs: 0, maxHeapBytes: 0 });
  const worst = { delayMs: Infinity, heapBytes: Infinity };
  t.same([worst, worst, worst].map(unlimited), [false, false, false]);
  t.end();
});

t.test(
  'while it is too much requests are answered 503 overloaded, and served again afterwards',
  async (t) => {
    let pressure = { delayMs: 500, heapBytes: 0 };
    const app = Fastify();
    t.teardown(() => app.close());
    installErrorReplies(app);
    shedLoad(app, limits, () => pressure);
    app.get('/', async () => 'served');
    const status = async (): Promise<number> => (await app.inject('/')).statusCode;
    t.equal(await status(), 200);
    await eventually(async () => (await status()) === 503);
    const { headers, body } = await app.inject('/');
    t.equal(headers['retry-after'], '2');
    t.match(JSON.parse(body), { code: 'overloaded' });
    pressure = { delayMs: 0, heapBytes: 0 };
    await eventually(async () => (await status()) === 200);
  },
);
