#!/usr/bin/env node
// @ts-check
/** `npm run faults [-- OPTIONS]`: real gateways over real stores, with things going wrong, for as long as is wanted. */
import './lib/node-version.mjs';
import { runWithServers } from './testing/with-servers.mjs';

await runWithServers('test/faults/main.ts', { redis: true });
