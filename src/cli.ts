#!/usr/bin/env node
import { requireNode } from './node-version.ts';

requireNode();
// Only now: what the commands are made of cannot be loaded by an old Node.js.
const { run } = await import('./cli/run.ts');
process.exitCode = await run(process.argv.slice(2));
