// class: ui
/** The console in a real browser, before three replicas. */
import t from 'tap';
import { withoutChromium } from '../support/browser.ts';
import { accessibility } from './parts/accessibility.ts';
import { changes } from './parts/changes.ts';
import { finding } from './parts/finding.ts';
import { leakedKey } from './parts/leaked-key.ts';
import { reading } from './parts/reading.ts';
import { roles } from './parts/roles.ts';
import { sessions } from './parts/sessions.ts';
import { upkeep } from './parts/upkeep.ts';
import { startWorld } from './support/world.ts';

t.test('the console', { skip: withoutChromium }, async (t) => {
  const world = await startWorld(t, { replicas: 3, accounts: 300 });
  // First, because it begins without plans.
  await t.test('upkeep', (t) => upkeep(t, world));
  await t.test('finding', (t) => finding(t, world));
  await t.test('changes', (t) => changes(t, world));
  await t.test('reading', (t) => reading(t, world));
  await t.test('sessions', (t) => sessions(t, world));
  await t.test('roles', (t) => roles(t, world));
  await t.test('a leaked key', (t) => leakedKey(t, world));
  await t.test('accessibility', (t) => accessibility(t, world));
});
