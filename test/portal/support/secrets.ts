/** New keys in the portal. */
import type { Page } from 'playwright-core';

/** Mints a key without scopes, and waits for its secret. */
export async function mint(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Mint a key' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.keyboard.press('Enter');
  await secretOf(page);
}

/** The secret that a dialog shows. */
export async function secretOf(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog');
  await dialog.getByText('It is never shown again').waitFor();
  return dialog.locator('.secrets code').first().innerText();
}
