/** Colours of the page behind text, in light and in dark (`console/src/style/tokens.css`). */
export const pageColours = {
  light: ['#ffffff', '#f5f7fa'],
  dark: ['#10151d', '#1a212c'],
} as const;

/** Text on a coloured button. */
const onBrand = { light: '#ffffff', dark: '#000000' };

/** Least contrast of text in WCAG 2.2, level AA. */
const leastContrast = 4.5;

/** Steps from a colour to black or white. */
const steps = 50;

/**
 * Returns the style sheet with the colours of a brand: `--brand` for links and buttons, `--brand-text` for text on
 * buttons. Both can be read in light and in dark. Without an accent the page keeps its own colours.
 */
export function brandStyle(accent: string | null): string {
  if (accent === null) return ':root{}\n';
  const rule = (brand: string, text: string): string => `:root{--brand:${brand};--brand-text:${text}}`;
  const { light, dark } = brandColours(accent);
  return `${rule(light, onBrand.light)}\n@media (prefers-color-scheme:dark){${rule(dark, onBrand.dark)}}\n`;
}

/** Makes an accent darker for the light page and lighter for the dark one, until it can be read as text there. */
export function brandColours(accent: string): { readonly light: string; readonly dark: string } {
  return {
    light: readable(accent, '#000000', pageColours.light),
    dark: readable(accent, '#ffffff', pageColours.dark),
  };
}

/** Contrast of two colours such as `#1d5dc9`, from 1 to 21 (WCAG 2.2). */
export function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Mixes as little of `end` into `colour` as it takes to be read on each of `pages`. */
function readable(colour: string, end: string, pages: readonly string[]): string {
  const mixes = Array.from({ length: steps + 1 }, (_, step) => mixed(colour, end, step / steps));
  return mixes.find((mix) => pages.every((page) => contrast(mix, page) >= leastContrast)) ?? end;
}

function mixed(colour: string, end: string, share: number): string {
  const ends = channels(end);
  const parts = channels(colour).map((value, index) => value + ((ends[index] ?? 0) - value) * share);
  return `#${parts.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`;
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Red, green and blue from 0 to 255. */
function channels(colour: string): number[] {
  return [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
}
