// class: pure, alone
/** Header values that a search from each of their characters to the end would read over and over. */
import Fastify from 'fastify';
import t from 'tap';
import { readerOfOthers } from '../../src/authz/authorization-of-others.ts';
import { fileHandler, pageHeaders } from '../../src/http/static-page.ts';
import { staticFile } from '../../src/http/static-files.ts';

/** As long as a value may be by default. */
const length = 15_800;
/** Number of values; each takes a fraction of a millisecond if it is read once, and a third of a second otherwise. */
const values = 30;
/** Of processor time, so that a busy machine makes no difference. */
const mostMs = 2_500;

t.test('blanks in If-None-Match, which needs no session', async (t) => {
  const app = Fastify();
  const file = staticFile('index.html', 'text/html', Buffer.from('<p>'));
  app.get(
    '/',
    fileHandler(() => file, pageHeaders()),
  );
  for (const blank of [' ', '\t']) {
    const tags = `a${blank.repeat(length)}b`;
    const beganMs = processorMs();
    for (let i = 0; i < values; i++)
      t.equal((await app.inject({ url: '/', headers: { 'if-none-match': tags } })).statusCode, 200);
    const tookMs = processorMs() - beganMs;
    t.ok(tookMs < mostMs, `the processor took ${tookMs} ms`);
  }
});

t.test('blanks and commas in Accept-Encoding', async (t) => {
  const app = Fastify();
  const file = staticFile('index.html', 'text/html', Buffer.from('<p>'));
  app.get(
    '/',
    fileHandler(() => file, pageHeaders()),
  );
  for (const piece of [' ', ',', ', ', ',gzip ', 'gzip;', ',gzip;q=0']) {
    const codings = `${piece.repeat(length / piece.length)}x`;
    const beganMs = processorMs();
    for (let i = 0; i < values; i++) await app.inject({ url: '/', headers: { 'accept-encoding': codings } });
    const tookMs = processorMs() - beganMs;
    t.ok(tookMs < mostMs, `${piece}: the processor took ${tookMs} ms`);
  }
});

t.test('quotes in Authorization, on an open route that passes it on', (t) => {
  const readOthers = readerOfOthers('tgw');
  for (const piece of ['"', "'", ';', '"=', '" ', '=', 'a=', '"a']) {
    const value = `${piece.repeat(length / piece.length)}x`;
    const beganMs = processorMs();
    for (let i = 0; i < values; i++) readOthers([value]);
    const tookMs = processorMs() - beganMs;
    t.ok(tookMs < mostMs, `${piece}: the processor took ${tookMs} ms`);
  }
  t.end();
});

/** Returns the processor time that this process has taken, in milliseconds. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1_000);
}
