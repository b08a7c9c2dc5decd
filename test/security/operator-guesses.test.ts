// class: app
/** Guesses of an operator's token: how many are checked, what they reveal, and whom they lock out. */
import t from 'tap';
import { TokenGuesses } from '../../src/api/operator/token-guesses.ts';
import { startApis } from '../support/apis.ts';
import { embeddedStore } from '../support/embedded.ts';
import { eventually } from '../support/eventually.ts';
import type { HttpResponse } from '../support/http-client.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';

const viewer = 'token-of-a-viewer-0123456789abcdef';
const time = new ManualTime();
let counted = 0;
const tokenGuesses = new TokenGuesses({
  clock: time.clock,
  timers: time.timers,
  count: () => (counted += 1),
});
const { operator } = await startApis(t, {
  store: await embeddedStore(t),
  adminTokens: { viewer: { token: viewer, role: 'viewer' } },
  trustedProxies: ['127.0.0.1'],
  tokenGuesses,
});

/** Sends a token from a network. */
function send(key: string, from: string): Promise<HttpResponse> {
  return operator('GET', '/whoami', { key, headers: { 'x-forwarded-for': from } });
}

t.test('of many guesses at a time few are checked, and waiting reveals nothing', async (t) => {
  const statuses: number[] = [];
  const note = ({ status }: HttpResponse): number => statuses.push(status);
  const guesses = Array.from({ length: 60 }, async (_, i) => note(await send(`guess-${i}`, '192.0.2.1')));
  await eventually(() => statuses.length + time.waiting === 60);
  t.same(statuses, Array<number>(10).fill(401), 'those of the first moment');
  t.equal(counted, 10);

  // A right token among the guesses waits as they do, and a moment later none of them has been checked.
  let admitted = 0;
  const right = send(viewer, '192.0.2.1').then(({ status }) => (admitted = status));
  await eventually(() => time.waiting === 51);
  await time.advance(999);
  t.equal(time.waiting, 51);

  await time.advance(1);
  await eventually(() => statuses.length === 11);
  t.equal(time.waiting, 50, 'one of them is checked, and the next one a tenth of a second later');
  await time.advance(1_000);
  await eventually(() => statuses.length === 21);

  await time.advance(4_000);
  await right;
  await Promise.all(guesses);
  t.equal(admitted, 200, 'the right token is admitted in its turn');
  t.equal(counted, 60, 'each wrong token is counted');
});

t.test('a right token waits at most ten seconds, whatever else its network sends', async (t) => {
  const from = '192.0.2.2';
  let rejected = 0;
  const guesses = Array.from({ length: 150 }, async (_, i) => {
    await send(`guess-${i}`, from);
    rejected += 1;
  });
  await eventually(() => rejected + time.waiting === 150);
  const right = send(viewer, from);
  await eventually(() => time.waiting === 141);
  await time.advance(10_000);
  t.equal((await right).status, 200);
  await Promise.all(guesses);
});

t.test('guesses of one network hold up no other one, and are forgotten after a while', async (t) => {
  await Promise.all(Array.from({ length: 10 }, (_, i) => send(`guess-${i}`, '2001:db8:0:1::1')));
  t.equal((await send(viewer, '192.0.2.3')).status, 200, 'another address');
  t.equal((await send(viewer, '2001:db8:0:2::1')).status, 200, 'another network of version 6');
  const same = send(viewer, '2001:db8:0:1:ffff::2');
  await eventually(() => time.waiting === 1);
  await time.advance(1_000);
  t.equal((await same).status, 200, 'another address of the same network waits');
  await time.advance(10_000);
  t.equal((await send('guess', '2001:db8:0:1::1')).status, 401);
  t.equal((await send(viewer, '2001:db8:0:1::1')).status, 200, 'at once');
});

t.test('a request without a token is no guess', async (t) => {
  const before = counted;
  for (let i = 0; i < 20; i += 1) await operator('GET', '/whoami', { key: '' });
  t.equal(counted, before);
  t.equal((await operator('GET', '/whoami')).status, 200);
});

t.test('the networks of guessers take bounded memory, and the latest guesser stays', async (t) => {
  const many = new TokenGuesses({ clock: time.clock, timers: time.timers, count: () => undefined });
  const guess = (network: string): void => Array.from({ length: 10 }).forEach(() => many.note(network));
  guess('first');
  for (let i = 0; i < 12_000; i += 1) many.note(`network ${i}`);
  guess('last');
  t.equal(many.size, 10_000);
  const checkedAtOnce = (network: string): boolean => {
    let checked = false;
    many.pace(network, () => (checked = true));
    return checked;
  };
  t.equal(checkedAtOnce('first'), true);
  t.equal(checkedAtOnce('last'), false);
});
