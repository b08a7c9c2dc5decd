import { readFileSync } from 'node:fs';
import t from 'tap';
import { allKeys, nodeAt } from '../../../src/config/schema.ts';
import { validate } from '../../../src/config/validate.ts';

t.test('every key says what it means', async (t) => {
  for (const { path, node } of allKeys()) t.match(node.description, /\S.*[.:]$/, path.join('.'));
});

t.test('every example could be copied as it is', async (t) => {
  const examples = [...allKeys()].flatMap(({ path, node }) =>
    (node.examples ?? []).map((example) => ({ path, example })),
  );
  t.ok(examples.length > 0);
  for (const { path, example } of examples) {
    // What a route may say, `route_defaults` may say too, and there it needs no list around it.
    if (path[0] === 'routes' && path.length > 1) continue;
    const document = path.reduceRight<unknown>((value, name) => ({ [name]: value }), example);
    t.same(validate(document), [], path.join('.'));
  }
});

t.test('the chart reckons with the time to drain that the gateway takes by default', async (t) => {
  const helpers = readFileSync(
    new URL('../../../helm/tenancy-gateway/templates/_helpers.tpl', import.meta.url),
    'utf8',
  );
  const [, drainMs] = /ternary (\d+) \$ms/.exec(helpers) ?? [];
  t.equal(Number(drainMs), nodeAt(['drain_ms'])?.default);
});
