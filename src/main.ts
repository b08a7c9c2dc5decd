#!/usr/bin/env node
import { requireNode } from './node-version.ts';

requireNode();
// Imported after the check, because an old Node.js cannot load the gateway.
const { restartWithV8Flags } = await import('./wiring/v8-flags.ts');
restartWithV8Flags();
process.setSourceMapsEnabled(true);
await import('./serve.ts');
