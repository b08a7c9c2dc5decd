// @ts-check

/** Keys that the chart sets by other means: addresses and ports are fixed in the pod, secrets come from Secrets. */
const OWNED_BY_THE_CHART = [
  'listen.host',
  'listen.port',
  'internal',
  'database.url',
  'data_dir',
  'redis',
  'migrate',
];

/** Keywords that Helm does not know or that mean something to the gateway alone. */
const LEFT_TO_THE_GATEWAY = ['$schema', '$defs', 'title', 'format', 'env', 'default'];

/** @typedef {{ [keyword: string]: unknown, properties?: Record<string, Schema>, items?: Schema, allOf?: { $ref: string }[] }} Schema */

/**
 * The gateway's schema in the words of JSON Schema draft 7, which every Helm 3 knows, without the keys that are the
 * chart's own business.
 * @param {Schema & { $defs: Record<string, Schema> }} gateway
 * @returns {Schema}
 */
export function chartConfigSchema(gateway) {
  return { ...translate(gateway, gateway.$defs, ''), description: 'The content of gateway.yaml.' };
}

/**
 * @param {Schema} schema
 * @param {Record<string, Schema>} definitions
 * @param {string} path
 * @returns {Schema}
 */
function translate(schema, definitions, path) {
  const { allOf = [], unevaluatedProperties, properties, items, ...rest } = schema;
  const merged = Object.assign(
    {},
    ...allOf.map(({ $ref }) => definitions[$ref.replace('#/$defs/', '')]?.properties),
    properties,
  );
  const kept = Object.entries(merged)
    .map(([key, child]) => ({ key, child, at: path === '' ? key : `${path}.${key}` }))
    .filter(({ at }) => !OWNED_BY_THE_CHART.includes(at))
    .map(({ key, child, at }) => [key, translate(child, definitions, at)]);
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([keyword]) => !LEFT_TO_THE_GATEWAY.includes(keyword))),
    ...(allOf.length > 0 && { type: 'object' }),
    ...(unevaluatedProperties === false && { additionalProperties: false }),
    ...(items && { items: translate(items, definitions, `${path}[]`) }),
    ...(kept.length > 0 && { properties: Object.fromEntries(kept) }),
  };
}
