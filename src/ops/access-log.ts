import { clientAddresses } from '../http/trusted-proxies.ts';
import { headerValues } from '../domain/header-names.ts';
import { systemClock, type Clock } from '../ports/clock.ts';
import { lineWriter, type Logger } from './logger.ts';
import type { ReceivedHead, RequestObserver, RequestRecord } from '../ports/request-record.ts';

const maxPathLength = 1024;
const maxUserAgentLength = 256;

export interface AccessLogOptions {
  readonly clock?: Pick<Clock, 'wallMs'>;
  /** Addresses and networks of proxies whose word on the client's address counts; none by default. */
  readonly trustedProxies?: readonly string[];
  /** Headers beside `Authorization` whose value is an API key. */
  readonly keyHeaders?: readonly string[];
  readonly sample?: {
    /** From 0 to 1. */
    readonly share: number;
    /** From 0 to less than 1. */
    readonly random: () => number;
  };
}

/**
 * Writes one line a request, at `info`; `undefined` where the level leaves requests out, so that they cost nothing.
 *
 * The line is what pino would make of the same fields. It is put together here because there is one for every request:
 * knowing the fields beforehand, and writing lines together, takes a third of the time (`bench/observability.ts`).
 *
 * With a share, so many of the proxied requests answered 2xx get a line. Everything else does: also a response that was
 * cut after such a status, and management.
 */
export function accessLog(
  logger: Logger,
  {
    clock = systemClock,
    trustedProxies = [],
    keyHeaders = [],
    sample = { share: 1, random: Math.random },
  }: AccessLogOptions = {},
): RequestObserver | undefined {
  if (!logger.isLevelEnabled('info')) return undefined;
  const write = lineWriter(logger);
  const now = isoTimes(clock);
  const addressOf = clientAddresses(trustedProxies);
  const keyNames = keyHeaders.map((name) => name.toLowerCase());
  const { worker } = logger.bindings();
  const named = worker === undefined ? '' : `"worker":${String(worker)},`;
  const writeLine: RequestObserver = (record) =>
    write(
      `{"level":"info","time":"${now()}",${named}${fieldsOf(record)}${clientFields(record, addressOf(record.head), keyNames)},"msg":"request"}\n`,
    );
  if (sample.share >= 1) return writeLine;
  return (record) => {
    if (!isOrdinary(record) || sample.random() < sample.share) writeLine(record);
  };
}

/** Proxied, and all went well. Calls to management have no reason of a permit: each is logged, for audits. */
function isOrdinary({ status, code, reason }: RequestRecord): boolean {
  return status >= 200 && status < 300 && code === null && reason !== null;
}

function fieldsOf(record: RequestRecord): string {
  const { path, code, keyId, caller, resolvedTenant, reason, upstreamMs, bytesIn, bytesOut } = record;
  let fields =
    `"request_id":${quoted(record.requestId)},"method":${quoted(record.method)},` +
    `"path":${quoted(cut(path, maxPathLength))},` +
    `"route":${quoted(record.route)},"status":${record.status}`;
  if (code !== null) fields += `,"code":${quoted(code)}`;
  if (keyId !== null) fields += `,"key_id":${quoted(keyId)}`;
  if (caller !== null) fields += `,"caller":${quoted(caller)}`;
  if (record.operator !== undefined) fields += `,"operator":${quoted(record.operator)}`;
  if (resolvedTenant !== null) fields += `,"tenant":${quoted(resolvedTenant)}`;
  if (reason !== null) fields += `,"reason":${quoted(reason)}`;
  fields += `,"ms":${rounded(record.durationMs)}`;
  if (upstreamMs !== null) fields += `,"upstream_ms":${rounded(upstreamMs)}`;
  if (bytesIn !== null) fields += `,"bytes_in":${bytesIn}`;
  return bytesOut === null ? fields : `${fields},"bytes_out":${bytesOut}`;
}

/** Who sent it, as far as the connection and the head say. */
function clientFields(
  { head, code }: RequestRecord,
  address: string | undefined,
  keyNames: readonly string[],
): string {
  let fields = address === undefined ? '' : `,"address":${quoted(address)}`;
  const userAgent = userAgentOf(head);
  if (userAgent !== undefined) fields += `,"user_agent":${quoted(cut(userAgent, maxUserAgentLength))}`;
  if (code !== 'invalid_api_key') return fields;
  const length = keyLength(head, keyNames);
  return length === undefined ? fields : `${fields},"key_length":${length}`;
}

/** The first one: a client that sends two gains nothing. */
function userAgentOf({ rawHeaders }: ReceivedHead): string | undefined {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 10 && name.toLowerCase() === 'user-agent') return rawHeaders[i + 1];
  }
  return undefined;
}

/** Characters of a key that is not known: enough to see that it was cut off, or is another service's, and no secret. */
function keyLength({ rawHeaders }: ReceivedHead, keyNames: readonly string[]): number | undefined {
  const bearer = headerValues(rawHeaders, 'authorization')[0]?.replace(/^bearer +/i, '');
  const key = bearer ?? keyNames.flatMap((name) => headerValues(rawHeaders, name))[0];
  return key?.length;
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** Printable ASCII without quote and backslash: what stands in JSON as it is. */
const plain = /^[ !#-[\]-~]*$/;

/** Whatever a client wrote cannot end the string it stands in, nor the line. */
function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Tenths of a millisecond: clocks say more, readers want less. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** The time as ISO 8601 in UTC; made anew once a millisecond. */
function isoTimes({ wallMs }: Pick<Clock, 'wallMs'>): () => string {
  let lastMs = NaN;
  let text = '';
  return () => {
    const nowMs = wallMs();
    if (nowMs !== lastMs) [lastMs, text] = [nowMs, new Date(nowMs).toISOString()];
    return text;
  };
}
