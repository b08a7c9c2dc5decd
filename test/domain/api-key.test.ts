// class: pure
import t from 'tap';
import fc from 'fast-check';
import {
  apiKeyReader,
  apiKeyStatus,
  digestSecret,
  formatSecret,
  hintsOfAnyKey,
  keyHints,
  keyPrefixMaxLength,
  mostShown,
  parseApiKey,
  secretRandomBytes,
} from '../../src/domain/api-key.ts';

const bytes = fc.uint8Array({ minLength: secretRandomBytes, maxLength: secretRandomBytes });

t.test('every key that is written can be read', async () => {
  fc.assert(
    fc.property(bytes, (random) => {
      const key = formatSecret('tgw', random);
      return key.length === 43 && key.startsWith('tgw_') && parseApiKey(key) === key;
    }),
  );
});

t.test('a key with one wrong or swapped character is rejected without a look-up', async () => {
  fc.assert(
    fc.property(bytes, fc.integer({ min: 4, max: 42 }), fc.constantFrom(...'09AZaz'), (random, at, digit) => {
      const key = formatSecret('tgw', random);
      const typo = key.slice(0, at) + digit + key.slice(at + 1);
      const swapped = key.slice(0, 4) + key.charAt(5) + key.charAt(4) + key.slice(6);
      return (
        (typo === key || parseApiKey(typo) === undefined) &&
        (swapped === key || parseApiKey(swapped) === undefined)
      );
    }),
  );
});

t.test('what is no key is no key', async (t) => {
  const key = formatSecret('tgw', new Uint8Array(secretRandomBytes));
  const secret = formatSecret('tgs', new Uint8Array(secretRandomBytes));
  for (const text of [
    '',
    'tgw_',
    key.slice(0, -1),
    `${key}0`,
    key.toUpperCase(),
    ` ${key}`,
    secret,
    'x'.repeat(43),
  ]) {
    t.equal(parseApiKey(text), undefined, text);
  }
});

t.test('a character that is no digit is rejected wherever it stands', async (t) => {
  const key = formatSecret('tgw', new Uint8Array(secretRandomBytes));
  // Neighbours of the digits in ASCII, and characters whose lower byte is a digit's.
  for (const wrong of [...'/:@[`{-_ \0\x7f\x80ÿİı０\u{1d7ce}']) {
    for (let at = 4; at < key.length; at++) {
      const text = (key.slice(0, at) + wrong + key.slice(at + 1)).slice(0, key.length);
      if (parseApiKey(text) !== undefined) t.fail(`${JSON.stringify(wrong)} at ${at}`);
    }
  }
});

t.test('a checksum is compared as written: another number that agrees in 32 bits is rejected', async (t) => {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const key = formatSecret('tgw', new Uint8Array(secretRandomBytes));
  const stated = [...key.slice(-6)].reduce((number, digit) => number * 62 + digits.indexOf(digit), 0);
  for (let more = 1; stated + more * 2 ** 32 < 62 ** 6; more++) {
    let [text, rest] = ['', stated + more * 2 ** 32];
    for (; text.length < 6; rest = Math.floor(rest / 62)) text = digits.charAt(rest % 62) + text;
    t.equal(parseApiKey(key.slice(0, -6) + text), undefined, text);
  }
  t.equal(parseApiKey(key), key);
});

const visible = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).filter(
  (char) => char !== ',',
);
const foreign = fc
  .array(fc.constantFrom(...visible), { minLength: 16, maxLength: 512 })
  .map((chars) => chars.join(''))
  .filter((text) => !/^(?:tgw|acme)_/.test(text));
const prefix = fc
  .array(fc.constantFrom(...'abzABZ019'), { minLength: 1, maxLength: keyPrefixMaxLength - 1 })
  .map((chars) => `p${chars.join('')}`);

t.test(
  'a key of any format is read as it is, where it has the length and the characters of one',
  async (t) => {
    const read = apiKeyReader('acme');
    fc.assert(fc.property(foreign, (text) => read(text) === text));
    fc.assert(
      fc.property(
        foreign,
        fc.nat(511),
        fc.constantFrom(',', ' ', '\t', '\x7f', '\x80', 'é', '\0'),
        (text, at, wrong) => read(text.slice(0, at) + wrong + text.slice(at + 1)) === undefined,
      ),
    );
    t.equal(read('x'.repeat(15)), undefined);
    t.equal(read('x'.repeat(513)), undefined);
  },
);

t.test(
  'a key that begins as ours do needs our checksum, under the present prefix and the usual one',
  async () => {
    fc.assert(
      fc.property(bytes, prefix, fc.nat(38), fc.constantFrom(...'09AZaz_'), (random, own, at, digit) => {
        const read = apiKeyReader(own);
        return ['tgw', own].every((one) => {
          const key = formatSecret(one, random);
          const changed = key.length - 1 - at;
          const typo = key.slice(0, changed) + digit + key.slice(changed + 1);
          return (
            read(key) === key &&
            (typo === key || read(typo) === undefined) &&
            read(key.slice(0, -1)) === undefined &&
            read(`${key}0`) === undefined
          );
        });
      }),
    );
  },
);

t.test(
  'keys made under another prefix go on working, also where the one begins with the other',
  async (t) => {
    const random = new Uint8Array(secretRandomBytes).fill(9);
    for (const [before, now] of [
      ['acme', 'beta'],
      ['acme', 'acme_live'],
      ['acme_live', 'acme'],
      ['tgw', 'tgw_x'],
      ['tgw_x', 'tgw'],
    ] as const) {
      const key = formatSecret(before, random);
      t.equal(apiKeyReader(now)(key), key, `${before}, then ${now}`);
    }
  },
);

t.test('hints show a quarter of a key of another format at most', async (t) => {
  fc.assert(
    fc.property(foreign, (text) => {
      const { prefix: first, last4 } = hintsOfAnyKey(text);
      const shown = (first ?? '').length + (last4 ?? '').length;
      return (
        shown <= text.length / 4 &&
        shown <= mostShown(text) &&
        first !== '' &&
        text.startsWith(first ?? '') &&
        text.endsWith(last4 ?? '')
      );
    }),
  );
  t.same(hintsOfAnyKey('0123456789abcdef'), { prefix: null, last4: 'cdef' });
  const own = formatSecret('acme_live', new Uint8Array(secretRandomBytes));
  t.same(hintsOfAnyKey(own), keyHints(own));
  t.equal(keyHints(own).prefix, own.slice(0, 14));
});

t.test('a key carries at least 160 random bits: different bytes make different keys', async (t) => {
  t.ok(secretRandomBytes * 8 >= 160);
  fc.assert(
    fc.property(bytes, bytes, (a, b) => (formatSecret('tgw', a) === formatSecret('tgw', b)) === equal(a, b)),
  );
});

t.test('the digest is SHA-256, and the hints are not enough to use a key', async (t) => {
  t.equal(digestSecret('abc'), 'ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
  const key = formatSecret('tgw', new Uint8Array(secretRandomBytes).fill(7));
  const { prefix, last4 } = keyHints(key);
  t.equal(prefix.length + last4.length, 12);
  t.ok(key.startsWith(prefix) && key.endsWith(last4));
});

t.test('a key is active until the moment it expires, and revoked wins', async (t) => {
  const at = new Date(1000);
  t.equal(apiKeyStatus({ revokedAt: null, expiresAt: null }, 5000), 'active');
  t.equal(apiKeyStatus({ revokedAt: null, expiresAt: at }, 999), 'active');
  t.equal(apiKeyStatus({ revokedAt: null, expiresAt: at }, 1000), 'expired');
  t.equal(apiKeyStatus({ revokedAt: at, expiresAt: at }, 5000), 'revoked');
});

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
