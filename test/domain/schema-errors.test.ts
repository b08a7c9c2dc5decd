// class: pure
import { Ajv } from 'ajv';
import t from 'tap';
import { explainSchemaErrors, type SchemaFinding, type Wording } from '../../src/domain/schema-errors.ts';

const ajv = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true });
const wording: Wording = {
  minimum: ({ limit }) => `at least ${limit}`,
  otherwise: ({ keyword }) => `another ${keyword}`,
};

/** What is found in `value`, one finding expected. */
function finding(schema: object, value: unknown): SchemaFinding & { readonly detail: string } {
  const validate = ajv.compile(schema);
  validate(value);
  const [first, ...more] = explainSchemaErrors(validate.errors ?? [], wording);
  if (first === undefined || more.length > 0) throw new Error('one finding was expected');
  return first;
}

t.test('each keyword has its sentence, and keywords without one share another', async (t) => {
  t.equal(finding({ minimum: 3, type: 'integer' }, 1).detail, 'at least 3');
  t.equal(finding({ maximum: 3, type: 'integer' }, 5).detail, 'another maximum');
});

t.test('a member that is missing or unknown is told apart from the object it belongs to', async (t) => {
  const inside = (schema: object) => ({ type: 'object', properties: { a: { type: 'object', ...schema } } });
  t.match(finding(inside({ required: ['b/c'], properties: { 'b/c': {} } }), { a: {} }), {
    pointer: '/a',
    member: 'b/c',
  });
  t.match(finding(inside({ additionalProperties: false }), { a: { d: 1 } }), { pointer: '/a', member: 'd' });
});

t.test('a bad name is found once, by what is wrong with it', async (t) => {
  const found = finding({ type: 'object', propertyNames: { maxLength: 2 } }, { long: 1 });
  t.match(found, { keyword: 'maxLength', member: 'long', aboutName: true, limit: 2 });
});

t.test('what is accepted comes with the finding, the value that was sent does not', async (t) => {
  t.same(finding({ type: ['string', 'null'] }, 5).types, ['string', 'null']);
  t.same(finding({ type: 'string' }, 5).types, ['string']);
  t.same(finding({ enum: ['a', 'b'] }, 'secret').allowed, ['a', 'b']);
  t.equal(finding({ type: 'string', pattern: '^a', description: 'an a' }, 'secret').description, 'an a');
  t.notMatch(JSON.stringify(finding({ enum: ['a'] }, 'secret')), 'secret');
});
