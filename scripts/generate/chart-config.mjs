// @ts-check

/** Keys that the chart sets by other means: addresses and ports are fixed in the pod, secrets come from Secrets. */
const OWNED_BY_THE_CHART = [
  'listen.host',
  'listen.port',
  'internal',
  'portal.host',
  'portal.port',
  'database.url',
  'database.direct_url',
  'data_dir',
  'redis',
  'migrate',
];

/** Keywords that Helm does not know or that mean something to the gateway alone. */
const LEFT_TO_THE_GATEWAY = ['$schema', 'title', 'format', 'env', 'default', 'examples'];

/** @typedef {import('../../src/config/schema.ts').SchemaNode} SchemaNode */

/**
 * What the chart accepts as `config`: the gateway's schema in the words of JSON Schema draft 7, which every Helm 3 knows,
 * without the keys that are the chart's own business.
 * @param {SchemaNode} gateway
 * @returns {SchemaNode}
 */
export function chartConfig(gateway) {
  return { ...translate(gateway, ''), description: 'The content of gateway.yaml.' };
}

/**
 * @param {SchemaNode} node
 * @param {string} path
 * @returns {SchemaNode}
 */
function translate({ properties, items, ...rest }, path) {
  const kept = Object.entries(properties ?? {})
    .map(([key, child]) => ({ key, child, at: path === '' ? key : `${path}.${key}` }))
    .filter(({ at }) => !OWNED_BY_THE_CHART.includes(at))
    .map(({ key, child, at }) => [key, translate(child, at)]);
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([keyword]) => !LEFT_TO_THE_GATEWAY.includes(keyword))),
    ...(items && { items: translate(items, `${path}[]`) }),
    ...(kept.length > 0 && { properties: Object.fromEntries(kept) }),
  };
}
