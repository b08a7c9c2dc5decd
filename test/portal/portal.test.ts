// class: ui
/** The portal in a real browser, before two replicas. */
import t from 'tap';
import { withoutChromium } from '../support/browser.ts';
import { accessibility } from './parts/accessibility.ts';
import { keys } from './parts/keys.ts';
import { endings, links } from './parts/links.ts';
import { errors, places } from './parts/places.ts';
import { startPortalWorld } from './support/world.ts';

t.test('the portal', { skip: withoutChromium }, async (t) => {
  const world = await startPortalWorld(t);
  await t.test('links', (t) => links(t, world));
  await t.test('keys', (t) => keys(t, world));
  await t.test('what the page shows', (t) => places(t, world));
  await t.test('the end of a session', (t) => endings(t, world));
  await t.test('an error says what to do', (t) => errors(t, world));
  await t.test('accessibility', (t) => accessibility(t, world));
});
