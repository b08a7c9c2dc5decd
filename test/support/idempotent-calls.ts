import { randomUUID } from 'node:crypto';
import type { Parent } from './apis.ts';
import type { Call, HttpResponse } from './http-client.ts';

/** Sends POSTs with one `Idempotency-Key`: a new one, or the one that is given. */
export function once(call: Call, key: string = randomUUID()) {
  return (path: string, body?: object, more: Readonly<Record<string, string>> = {}): Promise<HttpResponse> =>
    call('POST', path, { headers: { 'Idempotency-Key': key, ...more }, ...(body && { body }) });
}

/** The sub-accounts that a parent has. */
export async function subAccounts(parent: Parent): Promise<unknown[]> {
  return (await parent.call('GET', '')).body['data'] as unknown[];
}

/** The parent's calls to another instance. */
export function elsewhere({ call }: { readonly call: Call }, { key }: Parent): Call {
  return (method, path, options) => call(method, `/v1/sub-accounts${path}`, { key, ...options });
}
