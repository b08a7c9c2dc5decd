// class: pure
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { schema } from '../../src/config/schema.ts';

t.test('the schema of the configuration is a JSON Schema of the draft it names', async (t) => {
  const ajv = new Ajv2020({ strict: false });
  t.equal((schema as { $schema?: string }).$schema, 'https://json-schema.org/draft/2020-12/schema');
  t.ok(ajv.validateSchema(schema), ajv.errorsText());
  t.notOk(ajv.validateSchema({ ...schema, type: 'mapping' }), 'one that is not is told');
});
