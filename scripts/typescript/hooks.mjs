// @ts-check
import { withoutTypes } from './strip.mjs';

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  const file = URL.canParse(url) ? new URL(url) : undefined;
  if (file?.protocol !== 'file:' || !file.pathname.endsWith('.ts')) return next(url, context);
  return { format: 'module', source: await withoutTypes(file), shortCircuit: true };
}
