import t from 'tap';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(new URL('docs', root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const folders = ['src', 'test', 'docs', 'bench', 'config', 'helm', 'scripts', 'examples'].join('|');
/** A path from the root of the project; the last character is no full stop that ends a sentence. */
const namedPath = new RegExp(`(?<![\\w./-])(?:${folders})/[\\w./*-]*[\\w*/]`, 'g');

t.test('every path of the project that the docs name exists', async (t) => {
  for (const page of pages) {
    const missing = [...read(page).matchAll(namedPath)].map(([path]) => path).filter((path) => !exists(path));
    t.same(missing, [], page);
  }
  t.ok(pages.includes('ARCHITECTURE.md') && pages.includes('docs/maintainers/decisions/README.md'));
});

t.test('every relative link of the docs leads to a file, and to a heading of it', async (t) => {
  for (const page of pages) {
    const broken = [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target) && !resolves(target, page));
    t.same(broken, [], page);
  }
});

t.test('no page of users sends them to a page of maintainers, which the package does not have', async (t) => {
  for (const page of pages.filter((name) => /^docs\/(?!maintainers\/)/.test(name))) {
    const leads = [
      ...read(page).matchAll(/\]\(([^)\s]*(?:maintainers\/|ARCHITECTURE|CONTRIBUTING)[^)\s]*)\)/g),
    ];
    t.same(
      leads.map(([, target]) => target),
      [],
      page,
    );
  }
});

t.test('every record of a decision is in the index, has its parts, and stays short', async (t) => {
  const index = read('docs/maintainers/decisions/README.md');
  for (const page of pages.filter((name) => /^docs\/maintainers\/decisions\/(?!README)/.test(name))) {
    const text = read(page);
    t.ok(index.includes(`](${page.slice('docs/maintainers/decisions/'.length)})`), `${page} is in the index`);
    t.match(
      text,
      /^# .+\n\nDate: \d{4}-\d\d-\d\d\. Status: .+\n\n## Context\n[^]+\n## Decision\n[^]+\n## Consequences\n/,
    );
    t.ok(text.split('\n').length <= 61, `${page} has at most 60 lines`);
  }
});

/** `*` stands for any part of a name in the last segment. */
function exists(path: string): boolean {
  if (!path.includes('*')) return existsSync(new URL(path, root));
  const [, folder = '', name = ''] = /^(.*\/)([^/]+)$/.exec(path) ?? [];
  const pattern = new RegExp(`^${name.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
  return (
    existsSync(new URL(folder, root)) && readdirSync(new URL(folder, root)).some((one) => pattern.test(one))
  );
}

function resolves(target: string, page: string): boolean {
  const [path = '', heading] = target.split('#');
  const url = path === '' ? new URL(page, root) : new URL(path, new URL(page, root));
  if (!existsSync(url)) return false;
  return (
    heading === undefined || !url.pathname.endsWith('.md') || anchors(readFileSync(url, 'utf8')).has(heading)
  );
}

/** Headings as GitHub makes anchors of them. */
function anchors(text: string): ReadonlySet<string> {
  const headings = [...withoutCode(text).matchAll(/^#+ +(.+?) *$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(headings);
}

function withoutCode(text: string): string {
  return text.replaceAll(/^ *```[^]*?^ *```/gm, '');
}
