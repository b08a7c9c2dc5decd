/** Text as HTML, in elements and in attributes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The little CommonMark that the documents' texts have: paragraphs, headings, code. */
export function paragraphs(text: string): string {
  return text
    .split('\n\n')
    .map((part) => (part.startsWith('## ') ? `<h2>${inline(part.slice(3))}</h2>` : `<p>${inline(part)}</p>`))
    .join('');
}

/** The same within a line. */
export function inline(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** JSON to be looked at; what is wider than the page is scrolled by itself, by keys as well. */
export function jsonHtml(label: string, value: unknown): string {
  return `<pre tabindex="0" role="region" aria-label="${escaped(label)}">${escaped(JSON.stringify(value, null, 2))}</pre>`;
}
