import { systemClock, type Clock } from '../ports/clock.ts';
import { lineWriter, type Logger } from './logger.ts';
import type { RequestObserver, RequestRecord } from '../ports/request-record.ts';

const maxPathLength = 1024;

export interface AccessLogOptions {
  readonly clock?: Pick<Clock, 'wallMs'>;
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
  { clock = systemClock, sample = { share: 1, random: Math.random } }: AccessLogOptions = {},
): RequestObserver | undefined {
  if (!logger.isLevelEnabled('info')) return undefined;
  const write = lineWriter(logger);
  const now = isoTimes(clock);
  const { worker } = logger.bindings();
  const named = worker === undefined ? '' : `"worker":${String(worker)},`;
  const writeLine: RequestObserver = (record) =>
    write(`{"level":"info","time":"${now()}",${named}${fieldsOf(record)},"msg":"request"}\n`);
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
  const { path, code, keyId, resolvedTenant, reason, upstreamMs } = record;
  let fields =
    `"request_id":${quoted(record.requestId)},"method":${quoted(record.method)},` +
    `"path":${quoted(path.length > maxPathLength ? `${path.slice(0, maxPathLength)}…` : path)},` +
    `"route":${quoted(record.route)},"status":${record.status}`;
  if (code !== null) fields += `,"code":${quoted(code)}`;
  if (keyId !== null) fields += `,"key_id":${quoted(keyId)}`;
  if (resolvedTenant !== null) fields += `,"tenant":${quoted(resolvedTenant)}`;
  if (reason !== null) fields += `,"reason":${quoted(reason)}`;
  fields += `,"ms":${rounded(record.durationMs)}`;
  return upstreamMs === null ? fields : `${fields},"upstream_ms":${rounded(upstreamMs)}`;
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
