// class: pure
import t from 'tap';
import fc from 'fast-check';
import { JsonFault, parseStrictJson } from '../../../src/api/rest/json-body.ts';

t.test('what is plain JSON is read as JSON.parse reads it', (t) => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      // Generated names may be the few that are rejected on purpose.
      fc.pre(!/__proto__|prototype|u0000|\\ud[89a-f]/i.test(text));
      t.same(parseStrictJson(text), JSON.parse(text));
    }),
  );
  const odd =
    ' { "a\\"b" : [ 1 , "x\\\\" , {"c" : null } ] , "\\u0061" : "[{,:" , "":"" , "\ud83d\ude00":"\\ud83d\\ude00" } ';
  t.same(parseStrictJson(odd), JSON.parse(odd));
  t.end();
});

t.test('a repeated member is rejected however it is spelled, and only inside its own object', (t) => {
  t.equal(pointer('{"a":1,"a":2}'), '/a');
  t.equal(pointer('{"a":1,"\\u0061":2}'), '/a');
  t.equal(pointer('{"x":[{"k":1},{"k":1,"b":0,"k":2}]}'), '/x/1/k');
  t.equal(pointer('{"a/b~":1,"a/b~":1}'), '/a~1b~0');
  t.same(parseStrictJson('{"a":{"a":1},"b":{"a":1},"c":["a","a"],"d":"a"}'), {
    a: { a: 1 },
    b: { a: 1 },
    c: ['a', 'a'],
    d: 'a',
  });
  t.end();
});

t.test('names that reach for the prototype are rejected, values are not', (t) => {
  t.equal(pointer('{"__proto__":{}}'), '/__proto__');
  t.equal(pointer('{"a":{"\\u005f_proto__":1}}'), '/a/__proto__');
  t.equal(pointer('{"constructor":{"prototype":{}}}'), '/constructor/prototype');
  t.same(parseStrictJson('{"prototype":1,"constructor":"__proto__"}'), {
    prototype: 1,
    constructor: '__proto__',
  });
  t.end();
});

t.test('text that cannot be stored is rejected where it is', (t) => {
  t.equal(pointer('{"a":"\\u0000"}'), '/a');
  t.equal(pointer('{"a":["ok","\\ud800"]}'), '/a/1');
  t.equal(pointer('{"a":"\\udc00\\ud800"}'), '/a');
  t.equal(pointer('{"\\ud800":1}'), '/\ud800');
  t.end();
});

t.test('what is not JSON is rejected', (t) => {
  const texts = [
    '',
    ' ',
    '{',
    '[',
    '"',
    '"a',
    '{"a"}',
    '{"a":}',
    '[1,]',
    '{"a":1,}',
    "{'a':1}",
    'NaN',
    '01',
    '{"a":1}}',
  ];
  const more = [
    '\ufeff{}',
    '// x\n{}',
    '{"a":"\n"}',
    '{"a":"\\x"}',
    '{"a":"\\',
    '{"a":1 "b":2}',
    'tru',
    '][',
    '}{',
    '{]',
  ];
  for (const text of [...texts, ...more]) t.equal(pointer(text), '', JSON.stringify(text));
  t.end();
});

t.test('depth and number of members are limited, and hostile ones are read to their end', (t) => {
  t.same(parseStrictJson('['.repeat(32) + ']'.repeat(32)), JSON.parse('['.repeat(32) + ']'.repeat(32)));
  const hostile = [
    '['.repeat(33) + ']'.repeat(33),
    '['.repeat(1_000_000),
    '{"a":'.repeat(200_000),
    `[${'0,'.repeat(500_000)}0]`,
    `{${Array.from({ length: 100_000 }, (_, i) => `"${i}":0`).join(',')}}`,
    '"\\"'.repeat(300_000),
    '"'.repeat(1_000_000),
    `"${'\\'.repeat(1_000_000)}`,
    `{"a"${' '.repeat(1_000_000)}`,
  ];
  // What took steps in the square of a length of a million would not end here.
  for (const text of hostile) t.equal(pointer(text), '', text.slice(0, 20));
  t.end();
});

function pointer(text: string): string {
  try {
    parseStrictJson(text);
  } catch (error) {
    return error instanceof JsonFault ? error.fault.pointer : `threw ${String(error)}`;
  }
  return 'accepted';
}
