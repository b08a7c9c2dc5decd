import { clientAddresses } from '../http/trusted-proxies.ts';
import {
  authorizationReader,
  keyOfBasic,
  usualSchemes,
  type AuthorizationScheme,
} from '../domain/authorization.ts';
import { headerValues } from '../domain/header-names.ts';
import { systemClock, type Clock } from '../ports/clock.ts';
import { lineWriter, type Logger } from './logger.ts';
import type { ReceivedHead, RequestObserver, RequestRecord } from '../ports/request-record.ts';

const maxPathLength = 1024;
const maxUserAgentLength = 256;

export interface AccessLogOptions {
  readonly clock?: Pick<Clock, 'wallMs'>;
  /** Addresses and networks of proxies trusted to report the client's address; none by default. */
  readonly trustedProxies?: readonly string[];
  /** Schemes in which `Authorization` carries API keys. */
  readonly schemes?: readonly AuthorizationScheme[];
  /** Headers other than `Authorization` whose value is an API key. */
  readonly keyHeaders?: readonly string[];
  readonly sample?: {
    /** Fraction of ordinary requests to log, 0 to 1. */
    readonly share: number;
    /** Returns a random number from 0 to less than 1. */
    readonly random: () => number;
  };
}

/**
 * Makes an observer that writes one line per request at `info`; `undefined` if the log level excludes `info`.
 *
 * The line is the same one that pino would write. Building it here from known fields, and writing in batches, takes a
 * third of the time that pino takes (`bench/observability.ts`).
 *
 * `sample` applies only to proxied requests that ended with a complete 2xx response. Everything else is always logged:
 * errors, responses cut off after a 2xx, and management and operator calls.
 */
export function accessLog(
  logger: Logger,
  {
    clock = systemClock,
    trustedProxies = [],
    schemes = usualSchemes,
    keyHeaders = [],
    sample = { share: 1, random: Math.random },
  }: AccessLogOptions = {},
): RequestObserver | undefined {
  if (!logger.isLevelEnabled('info')) return undefined;
  const write = lineWriter(logger);
  const now = isoTimes(clock);
  const addressOf = clientAddresses(trustedProxies);
  const lengthOf = keyLength(schemes, keyHeaders);
  const { worker } = logger.bindings();
  const named = worker === undefined ? '' : `"worker":${String(worker)},`;
  const writeLine: RequestObserver = (record) =>
    write(
      `{"level":"info","time":"${now()}",${named}${fieldsOf(record)}${clientFields(record, addressOf(record.head), lengthOf)},"msg":"request"}\n`,
    );
  if (sample.share >= 1) return writeLine;
  return (record) => {
    if (!isOrdinary(record) || sample.random() < sample.share) writeLine(record);
  };
}

/**
 * Whether an upstream sent a complete 2xx response. Management calls have no upstream, so they are always logged, for
 * audits.
 */
function isOrdinary({ status, code, upstreamMs }: RequestRecord): boolean {
  return status >= 200 && status < 300 && code === null && upstreamMs !== null;
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

/** Fields about the client, from its connection and headers. */
function clientFields(
  { head, code }: RequestRecord,
  address: string | undefined,
  lengthOf: KeyLength,
): string {
  let fields = address === undefined ? '' : `,"address":${quoted(address)}`;
  const userAgent = userAgentOf(head);
  if (userAgent !== undefined) fields += `,"user_agent":${quoted(cut(userAgent, maxUserAgentLength))}`;
  if (code !== 'invalid_api_key') return fields;
  const length = lengthOf(head);
  return length === undefined ? fields : `${fields},"key_length":${length}`;
}

/** Value of the first `User-Agent`; any others are ignored. */
function userAgentOf({ rawHeaders }: ReceivedHead): string | undefined {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 10 && name.toLowerCase() === 'user-agent') return rawHeaders[i + 1];
  }
  return undefined;
}

/** Returns the length of the API key in a request; `undefined` if the request has none. */
type KeyLength = (head: ReceivedHead) => number | undefined;

/**
 * Makes the function that returns the length of a key. The log shows this length for an unknown key. The length can show
 * that the key was truncated or belongs to another service, without revealing a secret.
 */
function keyLength(schemes: readonly AuthorizationScheme[], headers: readonly string[]): KeyLength {
  const readAuthorization = authorizationReader(schemes);
  const names = headers.map((name) => name.toLowerCase());
  return ({ rawHeaders }) => {
    const [value] = headerValues(rawHeaders, 'authorization');
    if (value === undefined) return names.flatMap((name) => headerValues(rawHeaders, name))[0]?.length;
    const sent = readAuthorization(value);
    if (typeof sent === 'string') return sent.length;
    return 'problem' in sent ? undefined : keyOfBasic(sent).length;
  };
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** Matches a string that JSON does not have to escape: printable ASCII without quotes or backslashes. */
const plain = /^[ !#-[\]-~]*$/;

/** Quotes `text` as a JSON string, so that clients cannot break out of the string or the line. */
function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Rounds to tenths of a millisecond. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** Returns a function that formats the current time as ISO 8601 in UTC. Each millisecond is formatted only once. */
function isoTimes({ wallMs }: Pick<Clock, 'wallMs'>): () => string {
  let lastMs = NaN;
  let text = '';
  return () => {
    const nowMs = wallMs();
    if (nowMs !== lastMs) [lastMs, text] = [nowMs, new Date(nowMs).toISOString()];
    return text;
  };
}
