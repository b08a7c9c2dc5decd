import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ProblemError, type FieldFault, type Problem } from '../../domain/problem.ts';
import { headerValues } from '../../domain/header-names.ts';
import { escapePointer, invalidField, invalidRequest } from '../../http/invalid-request.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation takes no body: an absent one, an empty one or `{}` will do, whatever the content type says. */
    readonly action?: true;
    /** Most members and elements of its body, where that is more than of others. */
    readonly mostItems?: number;
  }
}

/** RFC 8259 knows no parameters, but many clients send this one. */
const jsonType = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

/**
 * Bodies of `app`, where an operation has a schema for one, are JSON in UTF-8, at most `limitBytes` long, and read strictly.
 * A body that is too long is rejected by its Content-Length, or as soon as it has grown too long.
 */
export function installJsonBodies(app: FastifyInstance, limitBytes: number): void {
  // Before any of the body is read.
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { config, schema } = request.routeOptions;
    // Fastify would otherwise reject actions by their content type, which has no meaning there.
    if (config.action) delete request.raw.headers['content-type'];
    const problem = schema?.body && hasBody(request) ? mediaProblem(request.raw.rawHeaders) : undefined;
    done(problem === undefined ? null : new ProblemError(problem), payload);
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    '*',
    { parseAs: 'buffer', bodyLimit: limitBytes },
    (request, bytes, done) => {
      try {
        const { action, mostItems } = request.routeOptions.config;
        done(null, action ? requireNothing(bytes) : readJson(bytes, mostItems));
      } catch (error) {
        done(error as ProblemError);
      }
    },
  );
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function mediaProblem(rawHeaders: readonly string[]): Problem | undefined {
  const [type, ...more] = headerValues(rawHeaders, 'content-type');
  if (type === undefined || more.length > 0 || !jsonType.test(type)) {
    return { code: 'unsupported_media_type', detail: 'Send the body with `Content-Type: application/json`.' };
  }
  if (headerValues(rawHeaders, 'content-encoding').some((coding) => coding.toLowerCase() !== 'identity')) {
    return { code: 'unsupported_media_type', detail: 'Send the body without a Content-Encoding.' };
  }
  return undefined;
}

/** `undefined` for no bytes at all. */
function readJson(bytes: Uint8Array, mostItems: number | undefined): unknown {
  if (bytes.length === 0) return undefined;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalidField('', 'is not valid UTF-8.');
  }
  if (text.startsWith('\ufeff')) throw invalidField('', 'starts with a byte order mark.');
  try {
    return parseStrictJson(text, mostItems);
  } catch (error) {
    throw error instanceof JsonFault ? new ProblemError(invalidRequest([error.fault])) : error;
  }
}

function requireNothing(bytes: Uint8Array): undefined {
  if (/^\s*(?:\{\s*\}\s*)?$/.test(Buffer.from(bytes).toString('latin1'))) return undefined;
  throw invalidField('', 'must be empty: this operation takes none.');
}

/** Deepest nesting of a document; nothing we accept comes near. */
const maxDepth = 32;
/** Most members and elements of a document, unless an operation says otherwise: each one may cost a fault of its own later on. */
const usualMostItems = 1000;

/** A document that is not acceptable, and where. */
export class JsonFault extends Error {
  readonly fault: FieldFault;

  constructor(pointer: string, detail: string) {
    super(detail);
    this.name = 'JsonFault';
    this.fault = { pointer, detail };
  }
}

/**
 * Parses JSON as I-JSON (RFC 7493 §2.1 to §2.3): no member twice, no unpaired surrogates. Beyond that it rejects U+0000,
 * which PostgreSQL cannot store, names that reach for an object's prototype, and documents too deep or too full.
 *
 * @param mostItems members and elements
 * @throws JsonFault
 */
export function parseStrictJson(text: string, mostItems = usualMostItems): unknown {
  // The scan first: it ends early on hostile depth, while the parser would build what it is given.
  const found = scan(text, mostItems);
  try {
    const value: unknown = JSON.parse(text);
    if (found !== undefined) throw found;
    return value;
  } catch (error) {
    throw error instanceof JsonFault ? error : new JsonFault('', 'is not JSON.');
  }
}

interface Level {
  /** Names seen in this object; `null` in an array. */
  readonly names: Set<string> | null;
  /** The member or element being read. */
  at: string | number;
}

const tokens = /["{}[\],]/g;
const afterName = /\s*:/y;
const loneSurrogate = /\p{Surrogate}/u;

/**
 * The first fault that a parser would not report. What the text means where it is not JSON at all does not matter, as
 * the parser has the last word on that; only limits are thrown at once.
 */
function scan(text: string, mostItems: number): JsonFault | undefined {
  const levels: Level[] = [];
  let items = 0;
  let fault: JsonFault | undefined;
  tokens.lastIndex = 0;
  for (let match = tokens.exec(text); match !== null; match = tokens.exec(text)) {
    const level = levels.at(-1);
    switch (match[0]) {
      case '{':
      case '[':
        if (levels.length === maxDepth) throw new JsonFault('', `is nested deeper than ${maxDepth} levels.`);
        levels.push(match[0] === '{' ? { names: new Set(), at: '' } : { names: null, at: 0 });
        break;
      case '}':
      case ']':
        levels.pop();
        break;
      case ',':
        if (++items === mostItems)
          throw new JsonFault('', `has more than ${mostItems} members and elements.`);
        if (typeof level?.at === 'number') level.at += 1;
        break;
      default: {
        const end = endOfString(text, match.index);
        const string = decode(text.slice(match.index, end));
        tokens.lastIndex = end;
        afterName.lastIndex = end;
        if (level?.names && afterName.test(text)) {
          level.at = string;
          fault ??= nameFault(levels, level.names, string);
          level.names.add(string);
        }
        fault ??= stringFault(levels, string);
      }
    }
  }
  return fault;
}

function nameFault(
  levels: readonly Level[],
  names: ReadonlySet<string>,
  name: string,
): JsonFault | undefined {
  if (names.has(name)) return new JsonFault(pointerTo(levels), 'appears twice.');
  if (name === '__proto__' || (name === 'prototype' && levels.at(-2)?.at === 'constructor')) {
    return new JsonFault(pointerTo(levels), 'is not an acceptable name.');
  }
  return undefined;
}

function stringFault(levels: readonly Level[], string: string): JsonFault | undefined {
  if (loneSurrogate.test(string)) return new JsonFault(pointerTo(levels), 'holds half of a surrogate pair.');
  return string.includes('\0') ? new JsonFault(pointerTo(levels), 'holds the character U+0000.') : undefined;
}

/** Just after the closing quote, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1;
    while (text[before] === '\\') before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1;
  }
  return text.length;
}

function decode(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return '';
  }
}

function pointerTo(levels: readonly Level[]): string {
  return levels.map(({ at }) => `/${escapePointer(String(at))}`).join('');
}
