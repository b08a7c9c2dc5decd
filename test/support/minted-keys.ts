/** Keys of sub-accounts, minted through the API, for tests of what becomes of them. */
import type { Parent, SubAccountUnderTest } from './apis.ts';
import type { HttpResponse } from './http-client.ts';

export interface Minted {
  readonly id: string;
  readonly apiKey: string;
  /** Below `/v1/sub-accounts`. */
  readonly path: string;
  /** The key as a list shows it. */
  readonly record: HttpResponse['body'];
}

export async function mint(parent: Parent, child: SubAccountUnderTest, more: object = {}): Promise<Minted> {
  const { body } = await parent.call('POST', `/${child.id}/api-keys`, { body: { name: 'CI', ...more } });
  const { api_key: apiKey, client_secret: _secret, ...record } = body as Record<string, string>;
  return {
    id: String(record['id']),
    apiKey: String(apiKey),
    path: `/${child.id}/api-keys/${record['id']}`,
    record,
  };
}
