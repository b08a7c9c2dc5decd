/**
 * Node's `http` module. `import` would read all of its exports, and some of them load Node's copy of undici, which the
 * gateway has no use for: 5 MB of its memory on Node 24.
 */
export const http = process.getBuiltinModule('node:http');
