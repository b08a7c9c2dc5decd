#!/usr/bin/env node
import { requireNode } from './node-version.ts';

requireNode();
// What a program behind a pipe, such as `head`, no longer reads ends this one as it ends others: as SIGPIPE would.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 141 : 1));
// Imported after the check, because an old Node.js cannot load the commands.
const { run } = await import('./cli/run.ts');
process.exitCode = await run(process.argv.slice(2), process);
