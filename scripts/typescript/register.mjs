// @ts-check
/**
 * Lets Node run TypeScript sources as they are: `node --import ./scripts/typescript/register.mjs file.ts`.
 *
 * Since 22.18 Node does so by itself. Older versions get the same treatment (types become blanks, so that every line and
 * column stays where it is).
 */
import { register } from 'node:module';

const { typescript } = /** @type {{ typescript?: unknown }} */ (process.features);
if (!typescript) register('./hooks.mjs', import.meta.url);
