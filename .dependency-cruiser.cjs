// @ts-check
/**
 * The layers of src/: imports point down only. A layer may import itself, what is listed for it, and of the
 * configuration (unless it is named) its types.
 */

/** @type {Record<string, string[]>} */
const layers = {
  domain: [],
  generated: [],
  client: ['generated'],
  ports: ['domain'],
  timing: ['ports'],
  config: ['domain'],
  http1: [],
  http: ['http1', 'ports', 'domain'],
  authz: ['http', 'ports', 'domain'],
  limits: ['http', 'timing', 'ports', 'domain'],
  usage: ['http1', 'timing', 'ports', 'domain'],
  coherence: ['timing', 'ports', 'domain'],
  retention: ['timing', 'ports', 'domain'],
  adapters: ['ports', 'domain'],
  proxy: ['authz', 'limits', 'http', 'http1', 'ports', 'domain'],
  api: ['authz', 'limits', 'http', 'http1', 'ports', 'domain', 'generated'],
  console: ['http', 'domain'],
  portal: ['http', 'domain'],
  ops: ['http', 'timing', 'coherence', 'ports', 'domain'],
  server: ['limits', 'http', 'http1', 'ports', 'domain'],
};

/** Below these two, nothing depends on how the gateway is configured. */
const knowNoConfig = ['domain', 'ports', 'timing'];

/** Put the layers together, so they may import any of them. `main`, `cli` and `wiring` may name adapters. */
const top = '^src/(main|serve|worker|app|cli|wiring[^/]*)(/|[.]ts$)';
const mayNameAdapters = '^src/(main|serve|worker|cli|wiring[^/]*)(/|[.]ts$)';

/** @param {string} layer */
const inLayer = (layer) => `^src/${layer}(/|[.]ts$)`;

/**
 * @param {string} layer
 * @param {string[]} below
 */
function pointsDown(layer, below) {
  const config = knowNoConfig.includes(layer) ? [] : ['config'];
  return {
    name: `${layer}-imports-down`,
    severity: 'error',
    comment: `src/${layer} may import ${[layer, ...below].join(', ')}.`,
    from: { path: inLayer(layer) },
    to: { path: '^(src|test|scripts|bench)/', pathNot: [layer, ...below, ...config].map(inLayer) },
  };
}

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...Object.entries(layers).map(([layer, below]) => pointsDown(layer, below)),
    {
      name: 'every-file-has-a-layer',
      severity: 'error',
      comment: 'A file in src/ belongs to a layer of .dependency-cruiser.cjs, or puts layers together.',
      from: { path: '^src/', pathNot: [top, ...Object.keys(layers).map(inLayer)] },
      to: {},
    },
    {
      name: 'the-top-is-not-imported',
      severity: 'error',
      comment: 'main and cli start the program; app and wiring are for them.',
      from: { path: '^src/', pathNot: top },
      to: { path: top },
    },
    {
      name: 'app-knows-no-adapter',
      severity: 'error',
      comment: 'Which adapter stands behind a port is decided where the program starts.',
      from: { path: '^src/', pathNot: [mayNameAdapters, inLayer('adapters')] },
      to: { path: inLayer('adapters') },
    },
    {
      name: 'configuration-is-handed-down',
      severity: 'error',
      comment: 'Only the start of the program reads the configuration; everybody else gets its typed value.',
      from: { path: '^src/', pathNot: [top, inLayer('config')] },
      to: { path: inLayer('config'), dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'the-console-is-for-browsers',
      severity: 'error',
      comment: 'The console knows the gateway by the operator API alone, the portal by its API.',
      from: { path: '^console/' },
      to: {
        path: '^(src|test|scripts|bench)/',
        pathNot: '^src/generated/(operator|client)-types[.]ts$',
      },
    },
    {
      name: 'domain-is-pure',
      severity: 'error',
      comment:
        'No I/O, no clock, no framework: the domain is functions of its arguments. Hashes and checksums are.',
      from: { path: inLayer('domain') },
      to: { pathNot: ['^src/', '^(node:)?(crypto|zlib)$'] },
    },
    {
      name: 'ports-are-types-of-the-domain',
      severity: 'error',
      from: { path: inLayer('ports') },
      to: { pathNot: '^src/' },
    },
    {
      name: 'drivers-stay-in-adapters',
      severity: 'error',
      from: { path: '^src/', pathNot: inLayer('adapters') },
      to: { path: '^node_modules/(postgres|ioredis|@electric-sql)/' },
    },
    {
      name: 'no-development-tools-in-src',
      severity: 'error',
      comment: 'The image installs run-time dependencies only.',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'everything-resolves', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
    },
  },
};
