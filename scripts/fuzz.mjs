#!/usr/bin/env node
// @ts-check
/** `npm run fuzz [-- OPTIONS]`: hostile clients and hostile upstreams around a real gateway, for as long as is wanted. */
import './lib/node-version.mjs';
import { runWithServers } from './testing/with-servers.mjs';

await runWithServers('test/fuzz/main.ts', { redis: true });
