import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ProblemError, type Problem } from '../../domain/problem.ts';
import { headerValues } from '../../http/raw-headers.ts';
import { JsonFault, parseStrictJson } from './strict-json.ts';
import { invalidField, invalidRequest } from '../../http/invalid-request.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation takes no body: an absent one, an empty one or `{}` will do, whatever the content type says. */
    readonly action?: true;
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
        done(null, request.routeOptions.config.action ? requireNothing(bytes) : readJson(bytes));
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
function readJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalidField('', 'is not valid UTF-8.');
  }
  if (text.startsWith('\ufeff')) throw invalidField('', 'starts with a byte order mark.');
  try {
    return parseStrictJson(text);
  } catch (error) {
    throw error instanceof JsonFault ? new ProblemError(invalidRequest([error.fault])) : error;
  }
}

function requireNothing(bytes: Uint8Array): undefined {
  if (/^\s*(?:\{\s*\}\s*)?$/.test(Buffer.from(bytes).toString('latin1'))) return undefined;
  throw invalidField('', 'must be empty: this operation takes none.');
}
