import {
  createTraceState,
  ROOT_CONTEXT,
  trace,
  TraceFlags,
  type Context,
  type SpanContext,
} from '@opentelemetry/api';
import { headerValues } from '../domain/header-names.ts';

/**
 * Format of `traceparent`: version, trace id, parent id, flags. Later versions may add fields (W3C Trace Context §3.2).
 */
const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ids = { noTrace: '0'.repeat(32), noSpan: '0'.repeat(16) };

/**
 * Reads the trace that a request belongs to. A malformed or repeated `traceparent` is ignored, and a new trace begins
 * (W3C Trace Context §3.2.2).
 */
export function readTraceContext(rawHeaders: readonly string[]): Context {
  const [traceparent, ...more] = headerValues(rawHeaders, 'traceparent');
  if (traceparent === undefined || more.length > 0) return ROOT_CONTEXT;
  const [, version, traceId = '', spanId = '', flags = '', rest] = traceparentForm.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined))
    return ROOT_CONTEXT;
  if (traceId === ids.noTrace || spanId === ids.noSpan) return ROOT_CONTEXT;
  const tracestate = headerValues(rawHeaders, 'tracestate').join(',');
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
    // `createTraceState` drops malformed members.
    ...(tracestate === '' ? {} : { traceState: createTraceState(tracestate) }),
  });
}

/**
 * Replaces all trace headers with those of a span.
 *
 * @param headers flat list of names and values
 */
export function writeTraceContext(
  headers: string[],
  { traceId, spanId, traceFlags, traceState }: SpanContext,
): void {
  let kept = 0;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (name.length <= 11 && carriesTrace.has(name.toLowerCase())) continue;
    headers[kept] = name;
    headers[kept + 1] = headers[i + 1] as string;
    kept += 2;
  }
  headers.length = kept;
  headers.push('traceparent', `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`);
  const state = traceState?.serialize() ?? '';
  if (state !== '') headers.push('tracestate', state);
}

const carriesTrace = new Set(['traceparent', 'tracestate']);
