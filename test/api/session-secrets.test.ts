// class: pure
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { SessionSecrets } from '../../src/api/session-secrets.ts';

t.test('a key is changed by having two: no secret becomes unknown meanwhile', async (t) => {
  const [old, renewed] = [randomBytes(32), randomBytes(32)];
  let kept: readonly Uint8Array[] = [old];
  let reads = 0;
  let nowMs = 0;
  const portalSessions = { keys: () => Promise.resolve(((reads += 1), kept)) };
  const secrets = new SessionSecrets({ portalSessions, clock: { monotonicMs: () => nowMs }, randomBytes });
  const isKnown = async (secret: string): Promise<boolean> => (await secrets.digestOf(secret)) !== undefined;
  const first = await secrets.make();
  t.same(await secrets.digestOf(first.secret), first.digest);
  nowMs += 29_000;
  t.notOk(await isKnown(randomBytes(48).toString('base64url')));
  t.equal(reads, 1, 'a secret that is made up has no key read for it');

  for (const keys of [
    [old, renewed],
    [renewed, old],
  ]) {
    kept = keys;
    nowMs += 30_000;
    t.ok(await isKnown(first.secret));
  }
  const second = await secrets.make();
  kept = [renewed];
  nowMs += 30_000;
  t.ok(await isKnown(second.secret), 'it was made with the new one');
  t.notOk(await isKnown(first.secret));
});

t.test('keys that could not be read are read again', async (t) => {
  const answers = [Promise.reject(new Error('away')), Promise.resolve([randomBytes(32)])];
  const portalSessions = { keys: () => answers.shift() ?? Promise.reject(new Error('read once more')) };
  const secrets = new SessionSecrets({ portalSessions, clock: { monotonicMs: () => 0 }, randomBytes });
  await t.rejects(secrets.make(), { message: 'away' });
  t.ok(await secrets.make());
});
