// class: pure
import t from 'tap';
import fc from 'fast-check';
import { readActingHeader } from '../../src/domain/acting-decision.ts';

const uuid = '018f1234-5678-7abc-8def-0123456789ab';

t.test('the three forms of the header are read, and its absence', async (t) => {
  t.same(readActingHeader([]), { form: 'absent' });
  t.same(readActingHeader(['self']), { form: 'self' });
  t.same(readActingHeader([uuid]), { form: 'uuid', id: uuid });
  t.same(readActingHeader(['ext:customer-7']), { form: 'external-id', externalId: 'customer-7' });
});

t.test('UUIDs compare case-insensitively', async (t) => {
  t.same(readActingHeader([uuid.toUpperCase()]), { form: 'uuid', id: uuid });
});

t.test('an external_id keeps its case and every visible character', async (t) => {
  for (const externalId of ['A', 'a', '!#$%&()*+-./:;<=>?@[]^_`{|}~', 'self', 'ext:x', 'x'.repeat(255)]) {
    t.same(readActingHeader([`ext:${externalId}`]), { form: 'external-id', externalId });
  }
});

t.test('a repeated header is malformed, whatever it says', async (t) => {
  for (const values of [
    ['self', 'self'],
    ['self', 'ext:a'],
    [uuid, uuid],
    ['', 'self'],
  ]) {
    t.equal(readActingHeader(values).form, 'malformed');
  }
});

t.test('what has none of the three forms is malformed', async (t) => {
  const values = [
    '',
    ' ',
    'Self',
    'SELF',
    'self ',
    'self, ext:a',
    'ext:',
    'EXT:a',
    'ext: a',
    'ext:a b',
    'ext:a,b',
    'ext:é',
    'ext:a\u0000',
    `ext:${'x'.repeat(256)}`,
    `{${uuid}}`,
    `urn:uuid:${uuid}`,
    uuid.replaceAll('-', ''),
    `${uuid}0`,
    'null',
    '*',
  ];
  for (const value of values) t.equal(readActingHeader([value]).form, 'malformed', JSON.stringify(value));
});

t.test('any text at all is read without throwing, and never as absent', async () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => readActingHeader([text]).form !== 'absent'));
});
