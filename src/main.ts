#!/usr/bin/env node
import { requireNode } from './node-version.ts';

requireNode();
// Only now: what the gateway is made of cannot be loaded by an old Node.js.
await import('./serve.ts');
