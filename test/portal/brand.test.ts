// class: pure
/** The colours of a brand can be read on the page, whatever the accent is. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { brandColours, brandStyle, contrast, pageColours } from '../../src/portal/brand.ts';

/** Colours of all kinds, among them those that are hardest to read. */
const accents = Array.from({ length: 6 ** 3 }, (_, index) =>
  [index % 6, Math.floor(index / 6) % 6, Math.floor(index / 36)].reduce(
    (colour, part) => colour + (part * 51).toString(16).padStart(2, '0'),
    '#',
  ),
);

t.test('contrast is that of WCAG', async (t) => {
  t.equal(contrast('#000000', '#ffffff'), 21);
  t.equal(contrast('#ffffff', '#000000'), 21);
  t.equal(contrast('#777777', '#777777'), 1);
  t.equal(contrast('#777777', '#ffffff').toFixed(2), '4.48');
});

t.test('links and the text of buttons have a contrast of 4.5 in light and dark', async (t) => {
  for (const accent of accents) {
    const rules = [...brandStyle(accent).matchAll(/--brand:(#[0-9a-f]{6});--brand-text:(#[0-9a-f]{6})/g)];
    t.equal(rules.length, 2, accent);
    for (const [index, pages] of [pageColours.light, pageColours.dark].entries()) {
      const [, brand = '', text = ''] = rules[index] ?? [];
      const least = Math.min(...[...pages, text].map((other) => contrast(brand, other)));
      if (least < 4.5) t.fail(`${accent}: ${brand} ${text} ${least}`);
    }
  }
});

t.test('an accent that can be read stays as it is', async (t) => {
  t.equal(brandColours('#1d5dc9').light, '#1d5dc9');
  t.equal(brandColours('#8ab0ff').dark, '#8ab0ff');
  t.not(brandColours('#1d5dc9').dark, '#1d5dc9');
  t.not(brandColours('#ffd400').light, '#ffd400');
});

t.test('without an accent the page keeps its colours', async (t) => {
  t.equal(brandStyle(null), ':root{}\n');
});

t.test('the colours of the page are those of the style sheet', async (t) => {
  const css = readFileSync(new URL('../../console/src/style/tokens.css', import.meta.url), 'utf8');
  const valuesOf = (name: string) =>
    [...css.matchAll(new RegExp(`--${name}: (#[0-9a-f]{6});`, 'g'))].map(([, value]) => value);
  const [[lightPage, darkPage], [lightPanel, darkPanel]] = [valuesOf('page'), valuesOf('panel')];
  t.same({ light: [lightPage, lightPanel], dark: [darkPage, darkPanel] }, pageColours);
});
