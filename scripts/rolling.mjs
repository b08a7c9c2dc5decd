#!/usr/bin/env node
// @ts-check
/** `npm run bench:rolling [-- OPTIONS]`: replicas restarted one after the other under load, for as long as is wanted. */
import './lib/node-version.mjs';
import { runWithServers } from './testing/with-servers.mjs';

await runWithServers('test/faults/rolling.ts', { redis: false });
