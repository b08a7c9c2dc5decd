import {
  createTraceState,
  ROOT_CONTEXT,
  trace,
  TraceFlags,
  type Context,
  type SpanContext,
} from '@opentelemetry/api';
import { headerValues } from '../domain/header-names.ts';

/** Version, trace id, parent id, flags; later versions may say more (W3C Trace Context §3.2). */
const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ids = { noTrace: '0'.repeat(32), noSpan: '0'.repeat(16) };

/**
 * The trace a client says its request is in. Clients write what they like: what is malformed, or said twice, counts as
 * not said, and a new trace begins (W3C Trace Context §3.2.2).
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
    // Leaves out what is malformed.
    ...(tracestate === '' ? {} : { traceState: createTraceState(tracestate) }),
  });
}

/** Puts `span` in place of whatever `headers` say about traces. @param headers flat list of names and values */
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
