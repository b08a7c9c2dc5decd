#!/usr/bin/env node
// @ts-check
/** `npm run bench:outages [-- OPTIONS]`: what the promises about coherence come to under load, with stores going away. */
import './lib/node-version.mjs';
import { runWithServers } from './testing/with-servers.mjs';

await runWithServers('bench/outages/main.ts', { redis: true });
