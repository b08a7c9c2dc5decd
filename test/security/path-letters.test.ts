// class: real
import { execFileSync } from 'node:child_process';
import t from 'tap';
import { readingsOf } from '../../src/proxy/ingress/path-readings.ts';
import { startGateway } from '../support/gateway.ts';
import { pythonWith } from '../support/python.ts';
import { startUpstream } from '../support/upstreams.ts';

/**
 * Every character beyond ASCII that some reader takes for letters of ASCII because it ignores case: all 1,112,064 were put to Java 17
 * (equalsIgnoreCase, CASE_INSENSITIVE_ORDER, regionMatches, UNICODE_CASE, toUpperCase and toLowerCase of four locales) and to
 * Python 3.11 (re.IGNORECASE, lower, upper, title, casefold).
 */
const letters: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', ẞ: 'ss', İ: 'i', ı: 'i', ſ: 's', '\u212a': 'k', ﬀ: 'ff' },
  ...{ ﬁ: 'fi', ﬂ: 'fl', ﬃ: 'ffi', ﬄ: 'ffl', ﬅ: 'st', ﬆ: 'st' },
};

t.test('what a reader that ignores case takes for the letters of another route is rejected', async (t) => {
  const upstream = await startUpstream(t);
  const guarded = { upstream: upstream.url, scopes: { read: 'guarded:read', write: null } };
  const prefixes = Object.values(letters).map((ascii) => `/${ascii}x`);
  const routes = Object.fromEntries(prefixes.map((prefix) => [prefix, guarded]));
  const { call } = await startGateway(t, { routes: { '/': upstream.url, ...routes } });
  for (const [letter, ascii] of Object.entries(letters)) {
    const target = `/${encodeURIComponent(letter)}x/y`;
    const { status, body } = await call('GET', target);
    t.equal(status, 400, target);
    t.match(body, `below \`/${ascii}x\``, target);
  }
  t.equal(upstream.heads, 0);
  t.equal((await call('GET', '/stra%C3%9Fe')).status, 200, 'where they lead to no other route they pass');
});

t.test('they are all of which JavaScript itself can tell', async (t) => {
  const found = everyCharacter().filter((character) =>
    [character.toLowerCase(), character.toUpperCase(), character.toLowerCase().toUpperCase()].some((other) =>
      /^[a-z]+$/i.test(other.replaceAll('\u0307', '')),
    ),
  );
  t.same(found.sort(), Object.keys(letters).sort());
  t.ok(found.every((character) => reads(character, letters[character] ?? '')));
});

const python = pythonWith('re');
const skip =
  python === undefined &&
  'NO PYTHON ON THIS MACHINE: what it takes for a letter was not asked. Wanted: python3';

t.test('Python, asked about every character, knows no others', { skip }, async (t) => {
  const program = `
import re, string
letters = re.compile('[a-z]+', re.IGNORECASE)
for code in list(range(128, 0xd800)) + list(range(0xe000, 0x110000)):
    character = chr(code)
    forms = (character, character.lower(), character.upper(), character.title(), character.casefold())
    if any(letters.fullmatch(form) for form in forms): print(code)
`;
  const codes = execFileSync(python ?? '', ['-c', program], { encoding: 'utf8' })
    .trim()
    .split('\n');
  for (const code of codes) {
    const character = String.fromCodePoint(Number(code));
    t.ok(reads(character, letters[character] ?? 'unknown'), `U+${Number(code).toString(16)}`);
  }
});

function everyCharacter(): string[] {
  const codes = Array.from({ length: 0x11_0000 - 128 }, (_, i) => i + 128);
  return codes.filter((code) => code < 0xd800 || code > 0xdfff).map((code) => String.fromCodePoint(code));
}

function reads(character: string, ascii: string): boolean {
  const readings = readingsOf(`/${encodeURIComponent(character)}`);
  return readings.kind === 'paths' && readings.paths.includes(`/${ascii}`);
}
