import { tokens } from '../../generated/tokens.ts';

/** Style sheet of the page. The page's content security policy contains the style sheet's hash. */
export const style = `${tokens}
* { box-sizing: border-box; }
body { margin: 0; display: grid; grid-template-columns: 20rem minmax(0, 1fr); background: var(--page); color: var(--text); font: 1rem/1.5 var(--sans); }
a { color: var(--accent); text-underline-offset: .15em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: var(--space); border-right: 1px solid var(--line); background: var(--panel); }
nav h2 { font-size: .875rem; margin: 1.25rem 0 .25rem; color: var(--soft); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: block; padding: .2rem 0; color: var(--text); text-decoration: none; }
nav li a:has(b) { padding-left: 3.75rem; text-indent: -3.75rem; }
nav li a:hover { text-decoration: underline; }
nav b, .call b { display: inline-block; min-width: 3.5rem; color: var(--accent); font: bold .75rem var(--mono); text-indent: 0; }
main { padding: 1.5rem 2rem 6rem; max-width: 60rem; }
input { width: 100%; min-height: 2.25rem; padding: .25rem .75rem; border: 1px solid var(--soft); border-radius: var(--radius); background: var(--page); color: var(--text); font: inherit; }
label { font-weight: 600; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0; }
h2 { font-size: 1.125rem; margin: 2.5rem 0 .5rem; }
h3 { margin: 0; } h4 { margin: 1.25rem 0 .25rem; }
article { border-top: 1px solid var(--line); padding: 1.25rem 0; scroll-margin-top: 1rem; }
code, pre { font: .875rem/1.5 var(--mono); }
p, dt, dd, summary, h1, h2, h3, a { overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: .75rem 1rem; margin: .5rem 0; border-radius: var(--radius); background: var(--panel); }
.call { padding: .5rem 1rem; border-radius: var(--radius); background: var(--panel); }
dl { margin: 0; } dt { margin-top: .5rem; } dd { margin: 0 0 0 1rem; color: var(--soft); }
.required { font-style: italic; }
details { border-top: 1px solid var(--line); padding: .35rem 0; } summary { cursor: pointer; }
.skip { position: absolute; left: -100vw; } .skip:focus { left: 0; background: var(--page); padding: .5rem; z-index: 1; }
[hidden] { display: none !important; }
@media (max-width: 55rem) {
  body { display: block; }
  nav { position: static; height: auto; max-height: 45vh; border-right: 0; border-bottom: 1px solid var(--line); }
  main { padding: 1rem; }
}
`;

/** Search script of the page. The page's content security policy contains the script's hash. */
export const script = `
const search = document.getElementById('search');
const found = document.getElementById('found');
const items = [...document.querySelectorAll('[data-text]')];
document.querySelector('search').hidden = false;
function show() {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for (const item of items) item.hidden = !words.every((word) => item.dataset.text.includes(word));
  for (const group of document.querySelectorAll('.group')) group.hidden = !group.querySelector('[data-text]:not([hidden])');
  const count = document.querySelectorAll('nav [data-text]:not([hidden])').length;
  found.textContent = words.length === 0 ? '' : count === 0 ? 'Nothing found' : count + ' found';
}
search.addEventListener('input', show);
search.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') document.querySelector('nav li:not([hidden]) a')?.click();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target === search) return;
  event.preventDefault();
  search.focus();
});
show();
`;
