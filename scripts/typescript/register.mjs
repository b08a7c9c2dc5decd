// @ts-check
/**
 * Lets any Node run TypeScript sources as they are: `node --import ./scripts/typescript/register.mjs file.ts`.
 */
import { register } from 'node:module';
import { runsTypeScript } from './native.mjs';

if (!runsTypeScript) register('./hooks.mjs', import.meta.url);
