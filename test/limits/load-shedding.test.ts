// class: pure
import t from 'tap';
import Fastify from 'fastify';
import { installErrorReplies } from '../../src/http/errors.ts';
import { overload, shedLoad } from '../../src/limits/load-shedding.ts';
import { eventually } from '../support/eventually.ts';

const limits = { maxEventLoopDelayMs: 100, maxHeapBytes: 1000, maxMemoryBytes: 5000 };

const late = { delayMs: 101, heapBytes: 0, memoryBytes: 0 };
const fine = { delayMs: 100, heapBytes: 1000, memoryBytes: 5000 };
const full = { delayMs: 0, heapBytes: 1001, memoryBytes: 1001 };
const fullOfBuffers = { delayMs: 0, heapBytes: 10, memoryBytes: 5001 };

t.test('a lack of time never sheds everything, however long it lasts', (t) => {
  const levels = [late, fine, ...Array.from({ length: 60 }, () => late), fine].map(overload(limits));
  t.same(levels.slice(0, 2), ['shares', 'none']);
  t.same(new Set(levels.slice(2, -1)), new Set(['shares']));
  t.equal(levels.at(-1), 'none');
  t.end();
});

t.test('a full heap sheds everything after a second window, and a limit of 0 is none', (t) => {
  t.same([full, full, fine].map(overload(limits)), ['shares', 'all', 'none']);
  t.same([fullOfBuffers, fullOfBuffers, fine].map(overload(limits)), ['shares', 'all', 'none']);
  const unlimited = overload({ maxEventLoopDelayMs: 0, maxHeapBytes: 0, maxMemoryBytes: 0 });
  const worst = { delayMs: Infinity, heapBytes: Infinity, memoryBytes: Infinity };
  t.same([worst, worst, worst].map(unlimited), ['none', 'none', 'none']);
  t.end();
});

t.test(
  'while memory is short requests are answered 503 overloaded, and served again afterwards',
  async (t) => {
    let pressure = full;
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
    pressure = fine;
    await eventually(async () => (await status()) === 200);
  },
);
