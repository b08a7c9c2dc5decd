#!/usr/bin/env node
import { requireNode } from './node-version.ts';
import { restartWithV8Flags } from './wiring/v8-flags.ts';

requireNode();
restartWithV8Flags();
process.setSourceMapsEnabled(true);
// Imported after the check, because an old Node.js cannot load the gateway.
await import('./serve.ts');
