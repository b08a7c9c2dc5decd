import { escaped, inline } from './html.ts';
import type { Described, SecurityScheme } from './operation-index.ts';

/** HTML id of the section on authentication, used in links to it. */
export const authenticationId = 'authentication';
/** Terms that lead the page's search to the section on authentication. */
export const authenticationWords = 'authentication authorization security credential bearer token api key';

/** Renders the section on authentication, which lists the headers that can carry a credential. */
export function authenticationHtml({ components }: Described): string {
  const schemes = Object.values(components['securitySchemes'] ?? {}) as unknown as SecurityScheme[];
  const rows = schemes.map(
    (scheme) =>
      `<dt><code>${escaped(headerOf(scheme))}</code></dt><dd>${inline(scheme.description ?? 'The same key, instead of `Authorization`.')}</dd>`,
  );
  return (
    `<section class="group"><article id="${authenticationId}" data-text="${authenticationWords}">` +
    `<h2>Authentication</h2><dl>${rows.join('')}</dl></article></section>`
  );
}

function headerOf({ name, scheme, bearerFormat }: SecurityScheme): string {
  if (name !== undefined) return `${name}: …`;
  return scheme === 'basic' ? 'Authorization: Basic …' : `Authorization: Bearer ${bearerFormat ?? '…'}`;
}
