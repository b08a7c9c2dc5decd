/** Escapes text for HTML elements and attributes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Renders the CommonMark that the documents use: paragraphs, headings, code. */
export function paragraphs(text: string): string {
  return text
    .split('\n\n')
    .map((part) => (part.startsWith('## ') ? `<h2>${inline(part.slice(3))}</h2>` : `<p>${inline(part)}</p>`))
    .join('');
}

/** Renders CommonMark within a line. */
export function inline(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** Renders JSON. */
export function jsonHtml(label: string, value: unknown): string {
  return preformattedHtml(label, JSON.stringify(value, null, 2));
}

/** Renders lines that scroll by themselves, also by the keyboard, if they are wider than the page. */
export function preformattedHtml(label: string, text: string): string {
  return `<pre tabindex="0" role="group" aria-label="${escaped(label)}">${escaped(text)}</pre>`;
}
