import { escaped, inline } from './html.ts';
import type { Described, SecurityScheme } from './operation-index.ts';

/** Id of the section, for links. */
export const authenticationId = 'authentication';
/** Text of the section that the search of the page looks at. */
export const authenticationWords = 'authentication authorization security credential bearer token api key';

/** Renders the ways in which a call carries its credential. */
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

function headerOf({ name, bearerFormat }: SecurityScheme): string {
  return name === undefined ? `Authorization: Bearer ${bearerFormat ?? '…'}` : `${name}: …`;
}
