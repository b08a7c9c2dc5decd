/** One bar. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly highlight: boolean;
}

const width = 760;
const rowHeight = 30;
const labelWidth = 330;
const top = 44;

/** A bar chart as SVG that is readable on a light and on a dark background. */
export function barChart(title: string, bars: readonly Bar[]): string {
  const height = top + bars.length * rowHeight + 12;
  const longest = Math.max(...bars.map(({ value }) => value));
  const scale = (width - labelWidth - 70) / longest;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}">
<style>
  text { font: 13px system-ui, sans-serif; fill: #57606a }
  .title { font-weight: 600; font-size: 15px }
  rect { fill: #9aa4af }
  .highlight { fill: #1f883d }
  @media (prefers-color-scheme: dark) { text { fill: #9da7b1 } rect { fill: #59636e } .highlight { fill: #3fb950 } }
</style>
<text class="title" x="10" y="24">${escape(title)}</text>
${bars.map((bar, index) => row(bar, top + index * rowHeight, scale)).join('\n')}
</svg>
`;
}

function row({ label, value, highlight }: Bar, y: number, scale: number): string {
  const length = Math.max(1, Math.round(value * scale));
  return [
    `<text x="${labelWidth - 10}" y="${y + 15}" text-anchor="end">${escape(label)}</text>`,
    `<rect${highlight ? ' class="highlight"' : ''} x="${labelWidth}" y="${y}" width="${length}" height="20" rx="3"/>`,
    `<text x="${labelWidth + length + 8}" y="${y + 15}">${value.toFixed(1)}</text>`,
  ].join('');
}

function escape(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
}
