// class: hostile
/** The corpus of both modes, whole, and a little of what is drawn: `npm run fuzz` goes on for as long as is wanted. */
import t from 'tap';
import { asKept, corpusFile, readCorpus } from './corpus.ts';
import { testInputs } from './drawn-inputs.ts';
import { escape, unescape } from './escape.ts';

testInputs(1, 1);

t.test('what is kept can be written down and read again', async (t) => {
  const odd = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('');
  for (const bytes of [odd, 'a'.repeat(5000), '\\{}'.repeat(40), 'x\r\n\r\n y'])
    t.equal(unescape(escape(bytes)), bytes);
  for (const file of Object.values(corpusFile)) {
    const kept = readCorpus(file);
    t.ok(kept.length > 50);
    for (const each of kept)
      t.equal(unescape(asKept(each).split('\n').slice(1).join('\n')), each.bytes, each.name);
  }
});
