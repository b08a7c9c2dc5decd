/**
 * What the gateway owes an upstream, said once more and as plainly as possible: small enough to be believed without
 * a test, and without a line of the gateway in it.
 */
import { valuesOf, type Fields } from '../strict-head.ts';
import type { StrictRequest } from '../strict.ts';
import type { Holder, World } from '../world.ts';
import type { Kind } from './case.ts';
import type { Sighting } from './sighting.ts';

export interface Identity {
  readonly caller: Holder;
  readonly tenant: string;
  /** The `external_id` of the tenant, and those of its parent. */
  readonly externalId: string | null;
  readonly parent: Holder;
}

/** Who the upstream is to be told that a request is from and for: nobody on an open route; `null` where it must not get there. */
export function identityOf(
  world: World,
  { method, target, fields }: StrictRequest,
): Identity | 'nobody' | null {
  if (isOpen(target)) return served.test(method) ? 'nobody' : null;
  const credentials = valuesOf(fields, 'authorization');
  const keys = credentials.length === 1 ? keysIn(credentials[0] ?? '') : [];
  const known = keys.flatMap((key) => holders(world).filter((holder) => holder.key === key));
  // A user name that is a key counts as a second credential.
  const [caller, ...more] = known;
  if (caller === undefined || more.length > 0 || caller.key !== keys.at(-1)) return null;
  if (!served.test(method)) return null;
  const acting = valuesOf(fields, 'x-service-acting-tenant');
  if (acting.length > 1) return null;
  const tenant = tenantOf(world, caller, acting[0], writes.test(method));
  if (tenant === null) return null;
  return {
    caller,
    tenant,
    externalId: tenant === world.subAccounts.a ? 'a' : caller.externalId,
    parent: caller === world.solo ? world.solo : world.parent,
  };
}

/** What a value of `Authorization` may give for a key, the one that counts last. */
function keysIn(value: string): readonly string[] {
  const [, scheme = '', sent = ''] = /^(\w+) +(\S+)$/.exec(value) ?? [];
  if (/^(?:bearer|token|apikey)$/i.test(scheme)) return [sent];
  const decoded = Buffer.from(sent, 'base64');
  if (!/^basic$/i.test(scheme) || sent.length > 1368 || decoded.toString('base64') !== sent) return [];
  const [, user = '', password = ''] = basic.exec(decoded.toString('latin1')) ?? [];
  return password === '' ? [user] : [user, password];
}

// eslint-disable-next-line no-control-regex -- RFC 7617 forbids them
const basic = /^([^:\0-\x1f\x7f]*):([^\0-\x1f\x7f]*)$/;

function holders({ parent, sub, solo }: World): readonly Holder[] {
  return [parent, sub, solo];
}

const served = /^(?:GET|HEAD|OPTIONS|POST|PUT|PATCH|DELETE)$/;
const writes = /^(?:POST|PUT|PATCH|DELETE)$/;

function isOpen(target: string): boolean {
  return /^\/open-[ebnh](?:[/?]|$)/.test(target);
}

/** The tenant that the response is to name; nothing for an open route. */
export function tenantNamed(world: World, request: StrictRequest): string | undefined {
  const identity = identityOf(world, request);
  return identity === 'nobody' ? '' : identity?.tenant;
}

function tenantOf(world: World, caller: Holder, acting: string | undefined, write: boolean): string | null {
  const own = caller.accountId;
  const { a } = world.subAccounts;
  if (acting === undefined) return write && caller === world.parent ? null : own;
  if (acting === 'self' || acting.toLowerCase() === own) return own;
  if (caller === world.sub) return acting === 'ext:a' ? own : null;
  if (caller === world.parent && (acting === 'ext:a' || acting.toLowerCase() === a)) return a;
  return null;
}

/** The upstream that a path leads to, by its raw bytes. Other paths than those of routes lead to nginx, or to `e` without it. */
export function kindOf(target: string, kinds: readonly Kind[]): Kind {
  const [, letter] = /^\/(?:up|open)-([ebnh])(?:[/?]|$)/.exec(target) ?? [];
  return kinds.find((kind) => kind === letter) ?? kinds.find((kind) => kind === 'n') ?? 'e';
}

/** Whether it is so ordinary that it must be passed on, if its sender may send it. */
export function isOrdinary({ version, target, fields }: StrictRequest): boolean {
  return (
    version === '1.1' &&
    /^\/(?:up|open)-[ebnh]\/[=\w/-]*[=\w](?:\?[\w=&]*)?$/.test(target) &&
    !target.includes('//') &&
    fields.length < 90 &&
    fields.every(([name, value]) => ordinary.test(name) && /^[ -~]*$/.test(value) && value.length < 1000) &&
    /^\w+(?:\.\w+)*$/.test(valuesOf(fields, 'host')[0] ?? '')
  );
}

const ordinary =
  /^(?:host|authorization|x-service-acting-tenant|content-length|content-type|accept|user-agent|connection|x-dull-\d+)$/;

/** How what an upstream saw differs from what it ought to see of a request. */
export function misreadings(request: StrictRequest, identity: Identity | 'nobody', seen: Sighting): string[] {
  const faults: string[] = [];
  const host = valuesOf(request.fields, 'host')[0] ?? '';
  const owed: Readonly<Record<string, string>> = {
    ...(identity !== 'nobody' && trusted(identity)),
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    ...(host !== '' && { host, 'x-forwarded-host': host }),
  };
  for (const [name, value] of Object.entries(owed)) {
    const values = valuesOf(seen.fields, name);
    // A client that is gone has no address any more.
    if (name === 'x-forwarded-for' && values.length === 0) continue;
    if (values.length !== 1 || values[0] !== value)
      faults.push(`${name} is ${JSON.stringify(values)}, not ${value}`);
  }
  if (!/^[0-9a-f]{32}$/.test(valuesOf(seen.fields, 'x-request-id').join()))
    faults.push('x-request-id is not the gateway’s');
  if (seen.body !== request.body)
    faults.push(`a body of ${seen.body.length} bytes for one of ${request.body.length}, or another one`);
  faults.push(...strangers(request.fields, seen, owed));
  if (leadsToManagement(seen)) faults.push('its path can be read as one of management');
  return faults;
}

function trusted({ caller, tenant, externalId, parent }: Identity): Readonly<Record<string, string>> {
  return {
    'x-service-resolved-tenant': tenant,
    'x-service-parent-tenant': parent.accountId,
    ...(externalId !== null && { 'x-service-resolved-external-id': externalId }),
    ...(parent.externalId !== null && { 'x-service-parent-external-id': parent.externalId }),
    'x-service-caller-tenant': caller.accountId,
    'x-service-caller-key': caller.keyId,
    'x-service-caller-scopes': caller.scopes.join(' '),
  };
}

/** Headers that should not be there, or are missing. */
function strangers(sent: Fields, seen: Sighting, owed: Readonly<Record<string, string>>): string[] {
  const named = valuesOf(sent, 'connection')
    .flatMap((value) => value.toLowerCase().split(','))
    .map((each) => each.trim());
  const passing = sent.filter(([name]) => !isTheGateways(name) && !named.includes(name)).map(line);
  const left = [...passing];
  const faults: string[] = [];
  for (const field of seen.fields) {
    const [name] = field;
    if (
      Object.hasOwn(owed, name) ||
      /^(?:x-request-id|connection|content-length|transfer-encoding|host|x-nginx-uri|x-haproxy-path)$/.test(
        name,
      )
    )
      continue;
    if (line(field) === 'upgrade: websocket' && offersWebSocket(sent)) continue;
    const at = left.indexOf(line(field));
    if (at !== -1) left.splice(at, 1);
    else faults.push(`a header from nowhere: ${line(field).slice(0, 200)}`);
  }
  // What stands between may have its own opinion on odd headers.
  if ((seen.kind === 'e' || seen.kind === 'b') && left.length > 0)
    faults.push(`headers went missing: ${left.join('; ').slice(0, 200)}`);
  return faults;
}

/** `Upgrade` is a list (RFC 9110 §7.8), in as many lines as it likes. */
function offersWebSocket(sent: Fields): boolean {
  return /(?:^|,)\s*websocket\s*(?:,|$)/i.test(valuesOf(sent, 'upgrade').join());
}

function line([name, value]: readonly [string, string]): string {
  return `${name}: ${value}`;
}

/** Names that a client has no say in, as the most careless reader would take them. */
function isTheGateways(name: string): boolean {
  const folded = name.replace(/[^a-z0-9]/g, '-');
  return (
    name.includes('_') ||
    /^x-service-|^x-accel-|^x-sendfile|^(?:x-)?forwarded|^[xz]-forward(?:ed)?-for$|^proxy(?:-|$)/.test(
      folded,
    ) ||
    /^(?:x-request-id|x-(?:original|rewrite)-url|x-script-name|(?:x-)?remote-user)$/.test(folded) ||
    /^(?:te|trailer|keep-alive|http2-settings)$/.test(folded) ||
    /^(?:x-real-ip|cf-connecting-ip|(?:true-|x-|x-cluster-|fastly-)?client-ip)$/.test(folded) ||
    /^(?:connection|content-length|transfer-encoding|expect|upgrade|authorization|host)$/.test(name)
  );
}

/** As nginx and HAProxy read it (with a mark behind, since blanks there would get lost), and as a reader would that decodes until nothing changes. */
function leadsToManagement({ target, fields }: Sighting): boolean {
  return [target, ...valuesOf(fields, 'x-nginx-uri'), ...valuesOf(fields, 'x-haproxy-path')].some((path) =>
    /^\/v1\/sub-accounts(?:\/|$)/.test(simplest(path.replace(/\|$/, ''))),
  );
}

function simplest(target: string): string {
  let path = target.split('?')[0] ?? '';
  for (let times = 0; times < 4; times++)
    path = path.replace(/%([0-9a-f]{2})/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  path = (path.split(/[?#\0]/)[0] ?? '')
    .replaceAll('\\', '/')
    .replace(/;[^/]*/g, '')
    .toLowerCase();
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    const name = segment.trimEnd();
    // As a file system would that does not keep dots and blanks at the end of a name.
    const kept = name.replace(/[.\s]+$/, '');
    if (name === '..') segments.pop();
    else if (kept !== '') segments.push(kept);
  }
  return `/${segments.join('/')}`;
}
