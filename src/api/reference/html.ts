/** Escapes text for use in HTML elements and attributes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Renders the subset of CommonMark that the documents use: paragraphs, headings and code. */
export function paragraphs(text: string): string {
  return text
    .split('\n\n')
    .map((part) => (part.startsWith('## ') ? `<h2>${inline(part.slice(3))}</h2>` : `<p>${inline(part)}</p>`))
    .join('');
}

/** Renders text within a paragraph. The only markup in it is code between backticks. */
export function inline(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** Renders a value as preformatted JSON. @param label name of the block for screen readers */
export function jsonHtml(label: string, value: unknown): string {
  return preformattedHtml(label, JSON.stringify(value, null, 2));
}

/** Renders a block of preformatted text. A block that is wider than the page can be scrolled by mouse or keyboard. */
export function preformattedHtml(label: string, text: string): string {
  return `<pre tabindex="0" role="group" aria-label="${escaped(label)}">${escaped(text)}</pre>`;
}
