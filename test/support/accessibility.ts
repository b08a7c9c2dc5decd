import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** How somebody looks at a page. */
export interface View {
  readonly colorScheme: 'light' | 'dark';
  /** Pixels. */
  readonly width: number;
}

const widths = [1600, 1000, 400];
const views: readonly View[] = widths.flatMap((width) => [
  { colorScheme: 'light', width },
  { colorScheme: 'dark', width },
]);

/** Whether axe-core looks at a page in a view: at what is narrow and dark, and at what is wide and light. */
export const inTwoViews = ({ colorScheme, width }: View): boolean =>
  width === (colorScheme === 'dark' ? 400 : 1600);

/** The other views. */
export const inOtherViews = (view: View): boolean => !inTwoViews(view);

/** What {@link looked} needs of a test. */
interface Test {
  same(found: unknown, wanted: unknown, name: string): unknown;
  ok(value: unknown, name: string): unknown;
}

/**
 * Looks at a page, light and dark, narrow and wide. `VIEW_PICTURES=<folder>` keeps pictures.
 *
 * @param axeIn in which views axe-core looks, too
 */
export async function looked(t: Test, page: Page, name: string, axeIn: typeof inTwoViews): Promise<void> {
  for (const { colorScheme, width } of views) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    // The first frame tells charts their new size, and the second one has them in it.
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    const seen = `${name}, ${colorScheme}, ${width} px`;
    const folder = process.env['VIEW_PICTURES'];
    if (folder !== undefined) await page.screenshot({ path: `${folder}/${seen}.png`, fullPage: true });
    const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    t.ok(Number(wider) <= 0, `${seen}: nothing is wider than the page`);
    if (axeIn({ colorScheme, width })) t.same(await violations(page), [], `${seen}: axe-core`);
  }
}

/** What axe-core finds in a page, each with its elements. */
async function violations(page: Page): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source);
  // axe-core cannot tell the contrast of text before a gradient, and says nothing.
  await page.evaluate(
    "for (const table of document.querySelectorAll('.table')) table.style.background = 'none'",
  );
  return page.evaluate(async () => {
    const { axe: inPage } = globalThis as unknown as { axe: typeof axe };
    const found = await inPage.run({ resultTypes: ['violations'] });
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
}
