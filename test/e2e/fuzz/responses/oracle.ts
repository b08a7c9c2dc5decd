import { foldHeaderName } from '../../../../src/domain/header-names.ts';
import type { Client } from '../options.ts';
import { valuesOf, type Fields } from '../strict-head.ts';
import { readResponse, type StrictResponse } from '../strict.ts';
import { asTakenBy, isRejectedBy } from './leniency.ts';
import { anyToken, token, type ResponsePlan } from './plan.ts';
import type { Exchange } from './upstream.ts';

/** What the client has got for one request: a response as far as it came, or nothing. */
export interface Got {
  readonly bytes: string;
  readonly response: StrictResponse;
  /** The connection had ended by then. */
  readonly closed: boolean;
  /** The client stopped waiting. */
  readonly late: boolean;
}

/** How an exchange ended, for the table. */
export type Ending = 'proxied' | 'rejected' | 'cut' | 'nothing';

/** @returns what is wrong about it, if anything is */
export function check(
  exchange: Exchange,
  got: Got,
  client: Client,
): { readonly ending: Ending; readonly faults: readonly string[] } {
  const { plan } = exchange;
  const said = readResponse(asTakenBy(client, plan.bytes.replaceAll(token, exchange.token)), plan.method);
  const faults: string[] = [];
  faults.push(...foreignTokens(exchange, got));
  const ending = endingOf(got);
  if (got.late) faults.push('no response, and no end of the connection');
  if (got.response.state === 'malformed') faults.push('the response to the client breaks the protocol');
  const cameThere = !exchange.orphaned && exchange.arrivals > 0;
  if (isSound(plan, client) && cameThere && ending !== 'proxied')
    faults.push(`a sound response was not proxied: ${ending}`);
  if (ending === 'proxied') faults.push(...unlike(said, got.response, plan.after === 'reset'));
  if (ending === 'cut') {
    if (got.response.status !== said.status)
      faults.push(`cut with status ${got.response.status} for ${said.status}`);
    if (!said.body.startsWith(got.response.body))
      faults.push('what came before the cut is not how the body begins');
  }
  return { ending, faults };
}

/** Whether a response has to come to the client, however long it takes. */
export function isSound(plan: ResponsePlan, client: Client): boolean {
  const said = readResponse(asTakenBy(client, plan.bytes), plan.method);
  // What HTTP/1.0 says to chunks is no word on their content: it has not read them (RFC 9112 §6.1).
  const unread = plan.requestBody === 'chunked' && /^HTTP\/1\.0 /m.test(plan.bytes);
  const mayBeRejected = unread || !isModest(said, plan.bytes) || isRejectedBy(client, said, plan.bytes);
  return said.state === 'whole' && plan.after !== 'reset' && plan.when === 'whole' && !mayBeRejected;
}

/** Words of other exchanges. Some that look alike are drawn into a response itself. */
function foreignTokens({ token: own, plan }: Exchange, { bytes }: Got): string[] {
  return [...bytes.matchAll(anyToken)]
    .filter(([word]) => word !== own && !plan.bytes.includes(word))
    .map(([word]) => `the response holds ${word}, which is another exchange's`);
}

/**
 * The same for a request that offers a WebSocket. No drawn response consents to that, and what else is to reach the client is
 * left open here.
 */
export function checkOffer(exchange: Exchange, got: Got): ReturnType<typeof check> {
  const faults: string[] = [];
  faults.push(...foreignTokens(exchange, got));
  if (got.late) faults.push('no response to a handshake, and no end of the connection');
  if (got.response.status === 101) faults.push('a WebSocket without consent');
  if (got.response.state === 'malformed') faults.push('the response to a handshake breaks the protocol');
  return { ending: endingOf(got), faults };
}

function endingOf({ response }: Got): Ending {
  if (response.status === 0) return 'nothing';
  if (isOwnRejection(response)) return 'rejected';
  return response.state === 'whole' ? 'proxied' : 'cut';
}

/** Whether the gateway itself says that the upstream failed. */
function isOwnRejection({ status, fields, body, state }: StrictResponse): boolean {
  const code = { 502: 'upstream_unreachable', 504: 'upstream_timeout', 408: 'request_timeout' }[status];
  if (code === undefined || state !== 'whole' || valuesOf(fields, 'x-token').length > 0) return false;
  return (
    valuesOf(fields, 'content-type')[0] === 'application/problem+json' &&
    (body === '' || body.includes(`"${code}"`))
  );
}

/** A large head may be rejected, and so may what is odd though its meaning is clear. */
function isModest({ status, fields, trailers, interim }: StrictResponse, bytes: string): boolean {
  const size = fields.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  if (fields.length > 900 || size > 60_000 || interim > 99) return false;
  if (/^HTTP\/1\.[01] 100/m.test(bytes) || /^\r\n|\r\n\r\n\r\n/.test(bytes)) return false;
  if (/^HTTP\/1\.[01] 1[^]*?\r\n(?:connection|content-length|transfer-encoding):[^]*?\r\n\r\n./i.test(bytes))
    return false;
  if (/HTTP\/1\.0 /.test(bytes) && valuesOf(fields, 'transfer-encoding').length > 0) return false;
  // A 204 has no length (RFC 9110 §8.6).
  if (status === 204 && valuesOf(fields, 'content-length').length > 0) return false;
  if (valuesOf(trailers, 'content-length').length > 0 || /;[^\r\n]{4000}/.test(bytes)) return false;
  return valuesOf(fields, 'content-length').every((value) => value.length <= 15);
}

/** How a whole response differs from what the upstream said. */
function unlike(said: StrictResponse, got: StrictResponse, reset: boolean): string[] {
  if (said.state === 'malformed') return ['a response that breaks the protocol was proxied as a whole one'];
  if (said.state === 'partial') return ['half a response was proxied as a whole one'];
  if (said.state === 'until-close' && reset) return [];
  const faults: string[] = [];
  if (got.status !== said.status) faults.push(`status ${got.status} for ${said.status}`);
  if (got.body !== said.body)
    faults.push(`a body of ${got.body.length} bytes for one of ${said.body.length}, or another one`);
  const [expected, seen] = [passedOn(said.fields), passedOn(got.fields)];
  if (JSON.stringify(expected) !== JSON.stringify(seen))
    faults.push(
      `headers ${JSON.stringify(seen).slice(0, 300)} for ${JSON.stringify(expected).slice(0, 300)}`,
    );
  if (!keepsTenantsApart(got.fields)) faults.push('a cache may give it to another tenant');
  if (got.status === 204 && valuesOf(got.fields, 'content-length').length > 0)
    faults.push('a length for a body that cannot be (RFC 9110 §8.6)');
  for (const [name, value] of [...got.fields, ...got.trailers])
    if (value.includes('forged') && isReserved(name)) faults.push(`${name} is the upstream's`);
  for (const trailer of got.trailers)
    if (!said.trailers.some((own) => own.join() === trailer.join()))
      faults.push(`a trailer ${trailer[0]} from nowhere`);
  return faults;
}

/** Headers that a proxy leaves as they are. */
function passedOn(fields: Fields): Fields {
  const named = valuesOf(fields, 'connection')
    .flatMap((value) => value.toLowerCase().split(','))
    .map((each) => each.trim());
  return fields.filter(
    ([name]) =>
      name !== 'date' &&
      !isReserved(name) &&
      !isOfOneHop(name) &&
      !isForCaches(name) &&
      !named.includes(name),
  );
}

function isForCaches(name: string): boolean {
  return /^(?:vary|(?:.*-)?cache-control|surrogate-control)$/.test(foldHeaderName(name));
}

/** Whether the headers name, once each, what the gateway chose the response by, and that no shared cache may keep it. */
function keepsTenantsApart(fields: Fields): boolean {
  const said = fields.filter(([name]) => isForCaches(name)).map(([name, value]) => `${name}: ${value}`);
  return (
    said.length === 2 &&
    /^vary: (?:\*$|x-service-acting-tenant, authorization(?:,|$))/i.test(said[0] ?? '') &&
    /^cache-control: (?:.*, )?(?:private|no-store)(?:,|$)/i.test(said[1] ?? '')
  );
}

function isReserved(name: string): boolean {
  const folded = foldHeaderName(name);
  return folded.startsWith('x-service-') || folded === 'x-request-id';
}

const ofOneHop = /^(?:connection|keep-alive|te|trailer|upgrade|proxy-.*|transfer-encoding|content-length)$/;

function isOfOneHop(name: string): boolean {
  return ofOneHop.test(foldHeaderName(name));
}
