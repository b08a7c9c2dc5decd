import type { Locator, Page } from 'playwright-core';

/** Presses Tab until `target` has the focus. @throws if the keyboard does not get there */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.first().waitFor();
  for (let steps = 0; steps < 60; steps += 1) {
    if ((await target.and(page.locator(':focus')).count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${String(target)}`);
}
