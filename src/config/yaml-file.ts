import { readFileSync } from 'node:fs';
import { Composer, isMap, isScalar, isSeq, Lexer, LineCounter, Parser, visit } from 'yaml';
import type { CST, Document, ErrorCode, Node } from 'yaml';
import type { Fault } from './fault.ts';
import type { Path } from './pointer.ts';

/** The values in a configuration file, and where they are in the file. */
export interface YamlFile {
  /** The root value; `{}` for an empty file. */
  readonly value: unknown;
  /**
   * Returns `file:line:column` of the value at `path`. If there is no such value, returns the place of the nearest
   * enclosing value.
   */
  locate(path: Path): string;
}

/** Result: the file, or the faults that make it unreadable. */
type Reading = Generator<void, YamlFile | { readonly faults: readonly Fault[] }, void>;

const maxFileBytes = 1024 * 1024;

/** Reads `file` in parts, or returns all the faults in its YAML. Never throws. */
export function* readYamlFile(file: string): Reading {
  let text: string;
  try {
    const bytes = readFileSync(file);
    if (bytes.length > maxFileBytes) return single(file, 'is larger than 1 MiB');
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    return single(file, error instanceof TypeError ? 'is not UTF-8 text' : unreadable(error));
  }
  if (nestsTooDeeply(text)) return single(file, 'is nested too deeply');
  try {
    return yield* parse(file, text);
  } catch {
    return single(file, 'cannot be read as YAML');
  }
}

/** Maximum number of nested levels. No configuration needs more than a dozen. */
const mostLevels = 100;

/**
 * Estimates whether brackets or indentation are nested more than {@link mostLevels} levels deep. The parser is
 * recursive, so deep nesting fills the stack. If V8 then has to compile a regular expression, it aborts the process.
 */
function nestsTooDeeply(text: string): boolean {
  let open = 0;
  // In a block such as `- - - x`, each level takes two characters at the start of the line. So 201 characters are more
  // than 100 levels.
  for (const [found] of text.matchAll(/[[{}\]]|^[-?: ]{201,}/gm)) {
    if (found.length > 1) return true;
    open = '[{'.includes(found) ? open + 1 : Math.max(0, open - 1);
    if (open > mostLevels) return true;
  }
  return false;
}

/** Does what `parseDocument` of the library does, in parts. */
function* parse(file: string, text: string): Reading {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  let read = 0;
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme));
    if (++read % 1_000 === 0) yield;
  }
  tokens.push(...parser.end());
  const [document, another] = new Composer().compose(tokens, true, text.length);
  if (document === undefined) throw new Error('the parser found no document');
  yield;
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const faults = [...document.errors, ...document.warnings].map(({ code, pos }) => ({
    where: place(pos[0]),
    detail: meanings[code],
  }));
  if (another !== undefined) faults.push({ where: place(another.range[0]), detail: meanings.MULTIPLE_DOCS });
  if (faults.length === 0) faults.push(...oddities(document, place));
  if (faults.length > 0) return { faults };
  const value: unknown = document.toJS();
  return {
    value: value ?? {},
    locate: (path) => place(nearest(document, path)),
  };
}

/**
 * Rejects YAML that a configuration does not need: aliases (a few lines can expand to a billion values, or refer to
 * themselves), tags, and numbers that parsers read differently (`010` is 8 in YAML 1.1 and 10 in YAML 1.2).
 */
function oddities(document: Document, place: (offset: number) => string): Fault[] {
  const faults: Fault[] = [];
  const fault = (node: Node, detail: string): void => {
    faults.push({ where: place(node.range?.[0] ?? 0), detail });
  };
  visit(document, {
    Alias: (_key, node) => fault(node, aliases),
    Value: (_key, node) => {
      if (node.tag !== undefined) fault(node, meanings.TAG_RESOLVE_FAILED);
      if (isScalar(node) && typeof node.value === 'number' && /^[-+]?0[0-9oxOX]/.test(node.source ?? '')) {
        fault(node, 'a number must be decimal, without a leading 0; put it in quotes if it is text');
      }
    },
  });
  return faults;
}

/**
 * Returns the offset of the name or list item at `path`. If there is none, returns the offset of the nearest enclosing
 * name or list item.
 */
function nearest(document: Document, path: Path): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
      if (pair === undefined) break;
      offset = startOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      offset = startOf(node) ?? offset;
    } else break;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

function single(file: string, detail: string): { readonly faults: readonly Fault[] } {
  return { faults: [{ where: file, detail }] };
}

function unreadable(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code ?? 'unknown error'})`;
}

const aliases = 'aliases (*name) are not supported; put text that starts with * in quotes';

/** The gateway's own wording for parser errors. The parser's messages quote the file, which may contain secrets. */
const meanings: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias cannot have an anchor or a tag',
  BAD_ALIAS: aliases,
  BAD_COLLECTION_TYPE: 'this tag does not fit its value',
  BAD_DIRECTIVE: 'this directive is not YAML 1.2',
  BAD_DQ_ESCAPE: 'this escape is not allowed in double quotes',
  BAD_INDENT: 'the indentation does not fit what is around it',
  BAD_PROP_ORDER: 'anchors and tags must precede their value',
  BAD_SCALAR_START: 'a value cannot start with this character; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'a mapping cannot start on the line of another key; add a line break, or quote a value that holds ": "',
  BLOCK_IN_FLOW: 'braces and brackets cannot hold an indented block',
  DUPLICATE_KEY: 'this key is here twice',
  IMPOSSIBLE: 'this cannot be read as YAML',
  KEY_OVER_1024_CHARS: 'this key is too long',
  MISSING_CHAR: 'a character is missing: a quote, a bracket, a comma, a colon or the space after one',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line; perhaps a colon is missing',
  MULTIPLE_ANCHORS: 'a value can have only one anchor',
  MULTIPLE_DOCS: 'the file must hold one document, without --- inside',
  MULTIPLE_TAGS: 'a value can have only one tag',
  NON_STRING_KEY: 'a key must be text',
  RESOURCE_EXHAUSTION: 'the file is too large or nested too deeply',
  TAB_AS_INDENT: 'indentation must be spaces, not tabs',
  TAG_RESOLVE_FAILED: 'tags (!name) are not supported; put text that starts with ! in quotes',
  UNEXPECTED_TOKEN: 'this does not belong here',
};
