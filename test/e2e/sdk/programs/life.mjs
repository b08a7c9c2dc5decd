/** The life of a sub-account, by the client of this package. */
import { ProblemError, TenancyClient } from '../../../../src/client/client.ts';

const { GATEWAY_URL: baseUrl = '', API_KEY: apiKey = '' } = process.env;
const client = new TenancyClient({ baseUrl, apiKey });
/** @param {Promise<unknown>} call */
const codeOf = (call) =>
  call.then(
    () => null,
    (error) => (error instanceof ProblemError ? [error.status, error.code] : [0, String(error)]),
  );

const made = await client.subAccounts.create({ name: 'Ada', external_id: 'ada-typescript' });
const found = new Set();
for await (const { id } of client.subAccounts.list({ limit: 100 })) found.add(id);

const own = await client.actingAs('ext:ada-typescript').fetch('/shipments', { method: 'POST', body: 'x' });
let requests = 0;
for (let tries = 0; requests === 0 && tries < 100; tries++) {
  for await (const row of client.usage({ sub_account_id: made.id })) requests += row.requests;
  if (requests === 0) await new Promise((resolve) => setTimeout(resolve, 200));
}

const minted = await client.apiKeys.mint(made.id, { name: 'first', scopes: ['a:b'] });
const rotated = await client.apiKeys.rotate(made.id, minted.id, { expires_in: 0 });
const revoked = await client.apiKeys.revoke(made.id, rotated.id);

const result = {
  made: [made.name, made.status],
  listed: found.has(made.id) && found.size,
  acted_as: own.headers.get('x-service-resolved-tenant') === made.id,
  usage: requests,
  minted: [minted.scopes, (minted.api_key ?? '').length > 20],
  rotated: rotated.rotated_from === minted.id && rotated.api_key !== minted.api_key,
  revoked: revoked.status,
  unknown: await codeOf(client.subAccounts.get('01a1ff7b-9a25-7526-9c43-62236b0a8586')),
  taken: await codeOf(client.subAccounts.create({ name: 'Ada', external_id: 'ada-typescript' })),
};
console.log(JSON.stringify(result));
