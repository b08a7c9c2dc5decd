// class: night
/** The portal with axe-core in the views that it does not see with each change. */
import t from 'tap';
import { inOtherViews } from '../support/accessibility.ts';
import { withoutChromium } from '../support/browser.ts';
import { accessibility } from './parts/accessibility.ts';
import { startPortalWorld } from './support/world.ts';

t.test('the portal at night', { skip: withoutChromium }, async (t) =>
  accessibility(t, await startPortalWorld(t), inOtherViews),
);
