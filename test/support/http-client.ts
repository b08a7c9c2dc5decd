import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Scope } from './servers.ts';

export interface CallOptions {
  /** Sent in `Authorization`, as `Bearer` unless the client has another form. */
  readonly key?: string;
  /** A list of pairs where one name is to be sent more than once. */
  readonly headers?: Readonly<Record<string, string>> | readonly (readonly [string, string])[];
  /** Text and bytes go out as they are; anything else as JSON with its content type. */
  readonly body?: unknown;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body where it is JSON. Tests say themselves what they expect in it. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Calls a server over a real connection, with exactly the path, the headers and the bytes it is given. */
export type Call = (method: string, path: string, options?: CallOptions) => Promise<HttpResponse>;

/**
 * @param origin such as `http://127.0.0.1:8080`
 * @param authorization value of `Authorization` for a key
 */
export function httpClient(t: Scope, origin: string, authorization = (key: string) => `Bearer ${key}`): Call {
  const { hostname, port } = new URL(origin);
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  return (method, path, { key, headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const payload = toPayload(body);
      const given: readonly (readonly [string, string])[] = isList(headers)
        ? headers
        : Object.entries(headers);
      const list = [
        ...(given.some(([name]) => /^host$/i.test(name)) ? [] : [['Host', `${hostname}:${port}`]]),
        ...(key === undefined ? [] : [['Authorization', authorization(key)]]),
        ...(payload || !bodyless.has(method) ? [['Content-Length', String(payload?.bytes.length ?? 0)]] : []),
        ...given,
        ...(payload?.json && !given.some(([name]) => /^content-type$/i.test(name))
          ? [['Content-Type', 'application/json']]
          : []),
      ];
      const sent = request({ agent, hostname, port, method, path, headers: list.flat() as never });
      sent.on('error', reject);
      sent.on('response', (response) => {
        text(response).then((content) => {
          const json = /^application\/(?:[a-z]+\+)?json/.test(response.headers['content-type'] ?? '');
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: content,
            body: json && content !== '' ? (JSON.parse(content) as HttpResponse['body']) : {},
          });
        }, reject);
      });
      sent.end(payload?.bytes);
    });
}

/** Without a length Node would announce a chunked body for the others. */
const bodyless = new Set(['GET', 'HEAD']);

function isList<T>(value: Readonly<Record<string, string>> | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

function toPayload(body: unknown): { bytes: Buffer; json: boolean } | undefined {
  if (body === undefined) return undefined;
  if (typeof body === 'string' || body instanceof Uint8Array)
    return { bytes: Buffer.from(body as string), json: false };
  return { bytes: Buffer.from(JSON.stringify(body)), json: true };
}
