#!/usr/bin/env node
import { requireNode } from './node-version.ts';

requireNode();
// Imported after the check, because an old Node.js cannot load the gateway.
await import('./serve.ts');
