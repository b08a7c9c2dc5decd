import { request } from 'node:http';
import type { Running } from '../targets/target.ts';
import { actingAccounts } from '../lib/tenants.ts';

/** One kind of request, sent over and over. */
export interface RequestSpec {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Zero for none. */
  readonly bodyBytes: number;
  /** Whether it acts as a sub-account, named by its `external_id`. */
  readonly acting: boolean;
  /** Acts as so many sub-accounts in turn instead, by their `external_id`. */
  readonly actingAccounts?: number;
}

/** A read without an acting header. */
export function get(path: string): RequestSpec {
  return { method: 'GET', path, bodyBytes: 0, acting: false };
}

/** A read as one of so many sub-accounts, in turn. */
export function getAsEach(path: string, accounts: number): RequestSpec {
  return { ...get(path), actingAccounts: accounts };
}

/** A write as a sub-account. */
export function post(bodyBytes: number): RequestSpec {
  return { method: 'POST', path: '/upload', bodyBytes, acting: true };
}

/** Headers beside those every client sends. */
export function headersOf({ tenants }: Running, spec: RequestSpec): Record<string, string> {
  return {
    authorization: `Bearer ${tenants.parentKey.text}`,
    ...(spec.acting && {
      'x-service-acting-tenant': `ext:${actingAccounts(tenants).active.externalId ?? ''}`,
    }),
    ...(spec.bodyBytes > 0 && { 'content-type': 'application/octet-stream' }),
  };
}

/** A response as a whole. */
export interface WholeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Sends one request on a connection of its own. */
export function sendRequest(
  port: number,
  {
    method,
    path,
    headers,
    body,
  }: { method: string; path: string; headers: Record<string, string>; body?: string },
): Promise<WholeResponse> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
      response.on('error', reject);
    });
    sent.setTimeout(10_000, () => sent.destroy(new Error(`${method} ${path}: no response within 10 s`)));
    sent.on('error', reject);
    sent.end(body);
  });
}
