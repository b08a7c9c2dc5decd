/** Style sheet of the page. The page's content security policy contains the style sheet's hash. */
export const style = `
:root { color-scheme: light dark; --line: #8886; --soft: #8882; font: 16px/1.5 system-ui, sans-serif; }
* { box-sizing: border-box; }
body { margin: 0; display: grid; grid-template-columns: 20rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1rem; border-right: 1px solid var(--line); }
nav h2 { font-size: 1rem; margin: 1rem 0 .25rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: block; padding: .15rem 0; text-decoration: none; }
nav li a:hover { text-decoration: underline; }
nav b, .call b { font: bold .8rem ui-monospace, monospace; }
main { padding: 1rem 2rem 6rem; max-width: 60rem; }
input { width: 100%; font: inherit; padding: .4rem; }
article { border-top: 1px solid var(--line); padding: 1rem 0; scroll-margin-top: 1rem; }
h3 { margin: 0; } h4 { margin: 1.25rem 0 .25rem; }
code, pre { font: .875rem/1.5 ui-monospace, monospace; }
p, dt, dd, summary, h1, h2, h3, a { overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: .75rem; margin: .5rem 0; background: var(--soft); }
dl { margin: 0; } dt { margin-top: .5rem; } dd { margin: 0 0 0 1rem; }
.required { font-style: italic; }
details { border-top: 1px solid var(--line); padding: .35rem 0; } summary { cursor: pointer; }
.skip { position: absolute; left: -100vw; } .skip:focus { left: 0; background: Canvas; padding: .5rem; z-index: 1; }
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
