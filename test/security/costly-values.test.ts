// class: pure, alone
/** Header values that a search from each of their characters to the end would read over and over. */
import Fastify from 'fastify';
import t, { type Test } from 'tap';
import { readerOfOthers } from '../../src/authz/authorization-of-others.ts';
import { fileHandler, pageHeaders } from '../../src/http/static-page.ts';
import { staticFile } from '../../src/http/static-files.ts';

/** As long as a value may be by default. */
const length = 15_800;
/** Number of values; each takes a fraction of a millisecond if it is read once, and a third of a second otherwise. */
const values = 30;
/** Of processor time, so that a busy machine makes no difference. */
const mostMs = 2_500;

for (const [header, pieces] of [
  ['if-none-match', [' ', '\t']],
  ['accept-encoding', [' ', ',', ', ', ',gzip ', 'gzip;', ',gzip;q=0']],
] as const)
  t.test(`a long value of ${header}, which needs no session`, async (t) => {
    const app = Fastify();
    const file = staticFile('index.html', 'text/html', Buffer.from('<p>'));
    const handler = fileHandler(() => file, pageHeaders());
    app.get('/', handler);
    for (const piece of pieces)
      await quickly(t, piece, async (value) => {
        t.equal((await app.inject({ url: '/', headers: { [header]: value } })).statusCode, 200);
      });
  });

t.test('quotes in Authorization, on an open route that passes it on', async (t) => {
  const readOthers = readerOfOthers('tgw');
  for (const piece of ['"', "'", ';', '"=', '" ', '=', 'a=', '"a'])
    await quickly(t, piece, (value) => readOthers([value]));
});

/** Reads values that say a piece over and over, and looks at the processor time that this process has taken. */
async function quickly(t: Test, piece: string, read: (value: string) => unknown): Promise<void> {
  const value = `a${piece.repeat(length / piece.length)}x`;
  const before = process.cpuUsage();
  for (let i = 0; i < values; i++) await read(value);
  const { user, system } = process.cpuUsage(before);
  const tookMs = Math.round((user + system) / 1_000);
  t.ok(tookMs < mostMs, `${piece.trim() && `${piece}: `}the processor took ${tookMs} ms`);
}
