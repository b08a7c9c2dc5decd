/** What a dialog says when its change is made. */
import type { Page } from 'playwright-core';

/** Waits for the receipt in the open dialog, and closes the dialog. */
export async function receipt(page: Page, done: string, dismiss = 'Close'): Promise<string> {
  const shown = page.getByRole('dialog').locator('.receipt', { hasText: `${done}.` });
  await shown.waitFor();
  const text = await shown.innerText();
  await page.getByRole('button', { name: dismiss }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  return text;
}

/** Reads a new key in the open dialog, which no Escape closes; its own button does. @returns the key and the receipt */
export async function newKey(
  page: Page,
  done: string,
): Promise<{ readonly secret: string; readonly said: string }> {
  const shown = page.getByRole('dialog').locator('.secrets code').first();
  await shown.waitFor();
  for (const key of ['Escape', 'Escape', 'Enter']) await page.keyboard.press(key);
  const secret = await shown.innerText();
  return { secret, said: await receipt(page, done, 'I have copied it') };
}
