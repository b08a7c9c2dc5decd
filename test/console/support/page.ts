/** Pages of the console in a browser. */
import type { BrowserContext, Page } from 'playwright-core';
import { loaded, watched, type WatchedPage } from '../../support/browser.ts';
import type { Scope } from '../../support/servers.ts';
import { tokens, type Role, type World } from './world.ts';

/** Opens the console in a browser that only this page has, and signs in by its form. */
export async function signIn(t: Scope, world: World, role: Role = 'admin'): Promise<WatchedPage> {
  const context = await newContext(world);
  t.teardown(() => context.close());
  return signedIn(context, world, role);
}

/**
 * Opens a place of the console in the browser of a role, whose operator signs in when the first page is opened. The page
 * is closed with the test.
 *
 * @param hash its address after `#/`
 */
export async function openConsole(
  t: Scope,
  world: World,
  hash = '',
  role: Role = 'admin',
): Promise<WatchedPage> {
  const context = world.signedIn.get(role) ?? (await newContext(world));
  const opened = world.signedIn.has(role)
    ? watched(await context.newPage())
    : await signedIn(context, world, role);
  world.signedIn.set(role, context);
  t.teardown(() => opened.page.close());
  await load(opened.page, consoleOf(world), hash);
  return opened;
}

/** Opens a place of the console anew, and waits until it has loaded everything. @param hash its address after `#/` */
export async function open(page: Page, hash: string): Promise<void> {
  await load(page, page.url(), hash);
}

let loads = 0;

/** @param base an address of the console */
async function load(page: Page, base: string, hash: string): Promise<void> {
  // A change of the hash alone would load nothing, and leave the former place there for a moment.
  loads += 1;
  await page.goto(new URL(`?load=${loads}#/${hash}`, base).href);
  await loaded(page);
}

async function signedIn(context: BrowserContext, world: World, role: Role): Promise<WatchedPage> {
  const opened = watched(await context.newPage());
  const { page } = opened;
  await page.goto(consoleOf(world));
  await page.getByLabel('Operator token').fill(tokens[role]);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Console' }).waitFor();
  return opened;
}

function newContext({ browser }: World): Promise<BrowserContext> {
  return browser.newContext({ viewport: { width: 1000, height: 900 } });
}

function consoleOf({ replicas: [first] }: World): string {
  return `${first?.internalUrl}/console/`;
}
