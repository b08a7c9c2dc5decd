/** Chromium, driven by playwright-core, for what only browsers do. */
import { spawnSync } from 'node:child_process';
import { chromium, type Browser, type Page } from 'playwright-core';
import type { Scope } from './servers.ts';

/**
 * The program; `undefined` where there is none. `TEST_CHROMIUM` names another one. The shell shows pages as Chromium
 * does, but draws no windows around them: the tests of the portal take 32 s of processor time with it, and 77 s without.
 */
const program = [process.env['TEST_CHROMIUM'] ?? '', 'chromium-headless-shell', 'chromium', 'google-chrome']
  .filter((name) => name !== '')
  .map((name) => spawnSync('sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' }).stdout.trim())
  .find((file) => file !== '');

/** For `{ skip }` of a test that needs it: false where it is here. */
export const withoutChromium =
  program === undefined &&
  'NO CHROMIUM ON THIS MACHINE: nothing was tried in a browser. Wanted: apt-get install chromium-headless-shell, or TEST_CHROMIUM=<program>';

/** Starts Chromium; it ends with the test. */
export async function openBrowser(t: Scope): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: program ?? '',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking'],
  });
  t.teardown(() => browser.close());
  return browser;
}

/** A page, with everything that goes wrong in it. */
export interface WatchedPage {
  readonly page: Page;
  /** Exceptions of scripts, and violations of the content security policy. */
  readonly faults: readonly string[];
}

/** Collects what goes wrong in a page from now on. */
export function watched(page: Page): WatchedPage {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) faults.push(message.text());
  });
  return { page, faults };
}

/** Waits until a page shows a heading, and has loaded everything. */
export async function loaded(page: Page): Promise<void> {
  await page.locator('main h1').waitFor();
  await page.locator('.loading').first().waitFor({ state: 'detached' });
}
