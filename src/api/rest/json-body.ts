import type { FastifyInstance } from 'fastify';
import type { LimitsConfig } from '../../config.ts';
import { ProblemError, type FieldFault, type Problem } from '../../domain/problem.ts';
import { headerValues } from '../../domain/header-names.ts';
import { bodyLengthOf, bodyStopped, watchBody } from '../../http/unfinished-body.ts';
import type { Intervals } from '../../ports/timers.ts';
import { escapePointer, invalidField, invalidRequest } from '../../http/invalid-request.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Set if the operation takes no body. A request may then have no body, an empty body, or the body `{}`, with any
     * content type.
     */
    readonly action?: true;
    /** Maximum number of members and elements in the body; set if the operation allows more than usual. */
    readonly mostItems?: number;
  }
}

/** Media type of JSON, with an optional `charset`. RFC 8259 does not define `charset`, but many clients send it. */
const jsonType = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

/**
 * Installs the body parser, which accepts strict JSON in UTF-8, up to `managementBodyBytes`. A longer body is rejected
 * as soon as its Content-Length or the received bytes exceed the limit. If a body stops arriving, or arrives too slowly,
 * the response is a 408.
 */
export function installJsonBodies(
  app: FastifyInstance,
  limits: Pick<LimitsConfig, 'managementBodyBytes' | 'bodyIdleMs' | 'minBodyBytesPerMinute'>,
  intervals?: Intervals,
): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { config, schema } = request.routeOptions;
    const carries = bodyLengthOf(request.raw) !== 0;
    // An action accepts any content type, but Fastify would reject some, so the header is removed.
    if (config.action) delete request.raw.headers['content-type'];
    const problem = schema?.body && carries ? mediaProblem(request.raw.rawHeaders) : undefined;
    const giveUp = (): void => {
      // While Fastify reads the body, it listens for errors of `payload` and rejects the request with them. At other
      // times `payload` may have no listener, and `emit` would throw the error.
      if (payload.listenerCount('error') > 0) payload.emit('error', new ProblemError(bodyStopped));
    };
    if (carries) watchBody(request.raw, limits, giveUp, intervals);
    done(problem === undefined ? null : new ProblemError(problem), payload);
  });
  const bodyLimit = limits.managementBodyBytes;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer', bodyLimit }, (request, bytes, done) => {
    try {
      const { action, mostItems } = request.routeOptions.config;
      done(null, action ? requireNothing(bytes) : readJson(bytes, mostItems));
    } catch (error) {
      done(error as ProblemError);
    }
  });
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

/** Parses a body. Returns `undefined` for an empty one. */
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
  throw invalidField('', 'must be empty: this operation takes no body.');
}

/** Maximum nesting depth of a document, far more than any valid body needs. */
const maxDepth = 32;
/**
 * Maximum number of members and elements in a document, unless an operation allows more. Validation could report a
 * fault for each member and element, so the maximum also limits the number of faults.
 */
const usualMostItems = 1000;

/** Thrown if a document is rejected. `fault` says where and why. */
export class JsonFault extends Error {
  readonly fault: FieldFault;

  constructor(pointer: string, detail: string) {
    super(detail);
    this.name = 'JsonFault';
    this.fault = { pointer, detail };
  }
}

/**
 * Parses JSON as I-JSON (RFC 7493 §2.1 to §2.3), which forbids repeated members and unpaired surrogates. Also rejects
 * U+0000, because PostgreSQL cannot store it. Rejects `__proto__`, and `prototype` in `constructor`, because code that
 * copies such members could change prototypes. Rejects documents that are nested too deeply or have too many members
 * and elements.
 *
 * @param mostItems maximum number of members and elements
 * @throws JsonFault
 */
export function parseStrictJson(text: string, mostItems = usualMostItems): unknown {
  // The scan comes first, because it stops as soon as a limit is exceeded, whereas the parser would build the whole
  // document.
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
  /** Names seen so far in this object; `null` in an array. */
  readonly names: Set<string> | null;
  /** Name of the member, or index of the element, that is being read. */
  at: string | number;
}

const tokens = /["{}[\],]/g;
const afterName = /\s*:/y;
const loneSurrogate = /\p{Surrogate}/u;

/**
 * Returns the first fault that `JSON.parse` would not report. Text that is not JSON may pass, because the parser
 * rejects it afterwards. Throws as soon as the text turns out to be too deep or too large.
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

/** Returns the index after the closing quote, or the length of the text if there is none. */
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
