import {
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type Tracer as SpanMaker,
} from '@opentelemetry/api';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../ports/clock.ts';
import type { RequestTrace, TraceEnd, TracedUpstream, Tracer } from '../ports/tracer.ts';
import { readTraceContext, writeTraceContext } from './trace-context.ts';

const maxPathLength = 1024;

/**
 * Makes a request's spans: a server span and, below it, `authenticate`, `decide` and a client span for the upstream
 * request. Attributes follow OpenTelemetry's HTTP conventions and never contain the key, query, caller or tenant. The
 * caller and tenant can be found in the log by request id.
 */
export function requestSpans(spans: SpanMaker, clock: Clock): Tracer {
  return {
    begin: ({ method = '', rawHeaders, socket }, route, agoMs = 0) => {
      const startedMs = clock.wallMs() - agoMs;
      const parent = readTraceContext(rawHeaders);
      const attributes = {
        'http.request.method': method,
        'http.route': route,
        'url.scheme': (socket as Partial<TLSSocket>).encrypted === true ? 'https' : 'http',
      };
      const options = { kind: SpanKind.SERVER, startTime: startedMs, attributes };
      const span = spans.startSpan(`${method} ${route}`, options, parent);
      return new RequestSpans(spans, clock, span, trace.setSpan(parent, span), method);
    },
  };
}

class RequestSpans implements RequestTrace {
  readonly #spans: SpanMaker;
  readonly #clock: Clock;
  readonly #span: Span;
  readonly #inside: Context;
  readonly #method: string;
  /**
   * Offset from the monotonic clock to the wall clock. It is read only once, so that durations stay correct if the wall
   * clock is set.
   */
  readonly #epochMs: number;
  #decidingMs = 0;
  #authenticatedMs = 0;
  #decidedMs = 0;
  #forward: Span | null = null;

  constructor(spans: SpanMaker, clock: Clock, span: Span, inside: Context, method: string) {
    this.#spans = spans;
    this.#clock = clock;
    this.#span = span;
    this.#inside = inside;
    this.#method = method;
    this.#epochMs = clock.wallMs() - clock.monotonicMs();
  }

  deciding(): void {
    this.#decidingMs ||= this.#nowMs();
  }

  authenticated(): void {
    this.#authenticatedMs ||= this.#nowMs();
  }

  decided(): void {
    this.#decidedMs ||= this.#nowMs();
  }

  forward(headers: string[], { origin, socketPath }: TracedUpstream): void {
    // Requests that are not sampled need no client span.
    if (!this.#span.isRecording()) return writeTraceContext(headers, this.#span.spanContext());
    this.#forward ??= this.#spans.startSpan(
      this.#method,
      {
        kind: SpanKind.CLIENT,
        startTime: this.#nowMs(),
        attributes: {
          'http.request.method': this.#method,
          ...(socketPath === null
            ? {
                'server.address': origin.hostname,
                'server.port': portOf(origin),
                'url.scheme': schemeOf(origin),
              }
            : { 'server.address': socketPath, 'network.transport': 'unix' }),
        },
      },
      this.#inside,
    );
    writeTraceContext(headers, this.#forward.spanContext());
  }

  end(end: TraceEnd): void {
    if (!this.#span.isRecording()) return;
    const endMs = this.#nowMs();
    const authenticatedMs = this.#authenticatedMs || endMs;
    if (this.#decidingMs > 0) {
      this.#child('authenticate', this.#decidingMs, authenticatedMs, end.caller === null ? end : null);
      if (end.caller !== null)
        this.#child('decide', authenticatedMs, this.#decidedMs || endMs, this.#forward === null ? end : null);
    }
    if (this.#forward !== null) {
      const { upstreamMs, status } = end;
      if (upstreamMs !== null) this.#forward.setAttribute('http.response.status_code', status);
      const cut = end.code !== null;
      if (cut || status >= 400) fail(this.#forward, cut ? end.code : String(status), true);
      this.#forward.end(endMs);
    }
    const path = end.path.length > maxPathLength ? `${end.path.slice(0, maxPathLength)}…` : end.path;
    this.#span.setAttributes({
      'url.path': path,
      'http.response.status_code': end.status,
      'tenancy_gateway.request_id': end.requestId,
    });
    // Rejections caused by the client get an `error.type`, but not the status `error`.
    const ours = end.status >= 500 || end.code === 'cut_by_upstream';
    fail(this.#span, end.code ?? (ours ? String(end.status) : null), ours);
    this.#span.end(endMs);
  }

  /** @param rejected how the request ended if this step rejected it; otherwise `null` */
  #child(name: string, startTime: number, endMs: number, rejected: TraceEnd | null): void {
    const span = this.#spans.startSpan(name, { startTime }, this.#inside);
    if (rejected !== null) fail(span, rejected.code, rejected.status >= 500);
    span.end(endMs);
  }

  #nowMs(): number {
    return this.#epochMs + this.#clock.monotonicMs();
  }
}

function fail(span: Span, type: string | null, error: boolean): void {
  if (type !== null) span.setAttribute('error.type', type);
  if (error) span.setStatus({ code: SpanStatusCode.ERROR });
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}

function schemeOf({ protocol }: URL): string {
  return protocol.slice(0, -1);
}
