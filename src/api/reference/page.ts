import { hash } from 'node:crypto';
import { authenticationHtml, authenticationId, authenticationWords } from './authentication-html.ts';
import { escaped, paragraphs } from './html.ts';
import { operationHtml } from './operation-html.ts';
import { searchText, type Described, type Place } from './operation-index.ts';
import { schemaHtml } from './schema-html.ts';
import { script, style } from './page-assets.ts';

/**
 * Renders a whole document as a single HTML page with a search box. The page loads nothing, so {@link pagePolicy} can
 * forbid everything except the script and style sheet inside the page.
 */
export function pageOf(document: Described): string {
  const { title, version, description } = document.info;
  const places = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
  const groups = document.tags.map((tag) => ({
    ...tag,
    places: places.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const schemas = Object.entries(document.components['schemas'] ?? {});
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><style>${style}</style></head>
<body><a class="skip" href="#content">To the content</a>
<nav aria-label="Operations"><search hidden><label for="search">Search</label>
<input id="search" type="search" autocomplete="off" spellcheck="false" aria-describedby="found"><p id="found" role="status"></p></search>
<div class="group"><ul><li data-text="${authenticationWords}"><a href="#${authenticationId}">Authentication</a></li></ul></div>
${groups.map(({ name, places }) => `<div class="group"><h2>${escaped(name)}</h2><ul>${places.map(linkTo).join('')}</ul></div>`).join('')}
<div class="group"><h2>Schemas</h2><ul>${schemas.map(([name]) => `<li data-text="${escaped(name.toLowerCase())}"><a href="#schema-${name}">${name}</a></li>`).join('')}</ul></div></nav>
<main id="content"><header><h1>${escaped(title)}</h1><p>Version ${escaped(version)} · <a href="openapi.json">OpenAPI document</a></p>
${paragraphs(description)}</header>
${authenticationHtml(document)}
${groups.map(({ name, description, places }) => `<section class="group"><h2>${escaped(name)}</h2><p>${escaped(description)}</p>${places.map((place) => operationHtml(document, place)).join('')}</section>`).join('')}
<section class="group"><h2>Schemas</h2>${schemas.map(([name, schema]) => schemaHtml(name, schema)).join('')}</section></main>
<script>${script}</script></body></html>
`;
}

/** Content security policy of the page, which allows only the page's own script and style sheet. */
export const pagePolicy = [
  `default-src 'none'`,
  `script-src 'sha256-${hash('sha256', script, 'base64')}'`,
  `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
  'img-src data:',
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

function linkTo({ method, path, operation }: Place): string {
  const text = searchText({ method, path, operation });
  return `<li data-text="${escaped(text)}"><a href="#${operation.operationId}"><b>${method}</b> ${escaped(operation.summary)}</a></li>`;
}
