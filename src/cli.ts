#!/usr/bin/env node
import { requireNode } from './node-version.ts';

requireNode();
// Imported after the check, because an old Node.js cannot load the commands.
const { run } = await import('./cli/run.ts');
process.exitCode = await run(process.argv.slice(2));
