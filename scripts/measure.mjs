#!/usr/bin/env node
// @ts-check
/** `npm run bench:NAME [-- OPTIONS]` of what one file of bench/ measures; package.json says which. */
import './lib/node-version.mjs';
import { runWithServers } from './testing/with-servers.mjs';

const [file = ''] = process.argv.splice(2, 1);
await runWithServers(file, { redis: false });
