/** The portal as a parent's program and a browser use it. */
import type { Apis, Parent } from './apis.ts';
import { httpClient, type Call, type HttpResponse } from './http-client.ts';
import type { Scope } from './servers.ts';

export const everyPermission = ['keys:read', 'keys:write', 'usage:read', 'events:read', 'sub_accounts:read'];

/** A session whose link was redeemed. */
export interface OpenPortal {
  readonly id: string;
  /** Secret of its link. */
  readonly link: string;
  readonly token: string;
  readonly session: HttpResponse['body'];
  /** Calls the portal's API with the session's token. */
  readonly call: Call;
}

/** Makes a link. @returns the response, and the secret of the link */
export async function makeLink(
  { call }: Pick<Parent, 'call'>,
  body: Readonly<Record<string, unknown>> = {},
): Promise<HttpResponse & { readonly link: string }> {
  const response = await call('POST', '/portal-sessions', {
    body: { permissions: everyPermission, ...body },
  });
  return Object.assign(response, { link: String(response.body['url']).split('#')[1] ?? '' });
}

/** Calls the portal's API without a token. */
export function portalCall(t: Scope, { portalOrigin }: Pick<Apis, 'portalOrigin'>): Call {
  const send = httpClient(t, portalOrigin ?? '');
  return (method, path, more) => send(method, `/api${path}`, more);
}

/** Makes a link and redeems it. */
export async function openPortal(
  t: Scope,
  apis: Pick<Apis, 'portalOrigin'>,
  parent: Pick<Parent, 'call'>,
  body: Readonly<Record<string, unknown>> = {},
): Promise<OpenPortal> {
  const { link, body: made } = await makeLink(parent, body);
  const bare = portalCall(t, apis);
  const redeemed = await bare('POST', '/redeem', { body: { link } });
  if (redeemed.status !== 201) throw new Error(redeemed.text);
  const token = String(redeemed.body['token']);
  return {
    id: String(made['id']),
    link,
    token,
    session: redeemed.body['session'] as HttpResponse['body'],
    call: (method, path, more) => bare(method, path, { key: token, ...more }),
  };
}
