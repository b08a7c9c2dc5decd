// class: night
/** The console before 10,000 accounts, and axe-core in the views that it does not see with each change. */
import t from 'tap';
import { inOtherViews } from '../support/accessibility.ts';
import { withoutChromium } from '../support/browser.ts';
import { accessibility } from './parts/accessibility.ts';
import { finding } from './parts/finding.ts';
import { startWorld } from './support/world.ts';

t.test('the console at night', { skip: withoutChromium }, async (t) => {
  const world = await startWorld(t, { replicas: 3, accounts: 10_000 });
  await t.test('finding among 10,000 accounts', (t) => finding(t, world));
  await t.test('accessibility', (t) => accessibility(t, world, inOtherViews));
});
