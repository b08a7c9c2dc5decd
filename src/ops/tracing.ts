import type { LookupFunction } from 'node:net';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import type { TracingConfig } from '../config.ts';
import type { Clock } from '../ports/clock.ts';
import type { Timers } from '../ports/timers.ts';
import type { Tracer } from '../ports/tracer.ts';
import type { Logger } from './logger.ts';
import { requestSpans } from './request-spans.ts';

export interface TracingParts {
  readonly config: TracingConfig;
  readonly version: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly lookup: LookupFunction;
}

/** A tracer that sends spans to a collector. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Sends the remaining spans, taking at most a second. */
  close(): Promise<void>;
}

/**
 * Maximum number of spans waiting to be sent. Further spans are dropped, so that memory does not grow while the
 * collector is unreachable.
 */
const mostWaiting = 4096;
const sendEveryMs = 1_000;
const giveUpMs = 5_000;
const closeMs = 1_000;

/**
 * Starts sending traces over OTLP/HTTP. If a request arrives with a trace, the sampled flag of that trace decides
 * whether the request is traced. Other requests are sampled by ratio. The exporter reads the variables
 * `OTEL_EXPORTER_OTLP_HEADERS`, `…_CERTIFICATE` and `…_COMPRESSION` itself.
 */
export function startTracing({ config, version, clock, timers, logger, lookup }: TracingParts): Tracing {
  const otlp = new OTLPTraceExporter({ url: config.endpoint, timeoutMillis: giveUpMs });
  const exporter = afterLookup(otlp, config.endpoint, lookup);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': config.serviceName, 'service.version': version }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(config.sampleRatio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reporting(exporter, logger, clock),
        maxQueueSize: mostWaiting,
        scheduledDelayMillis: sendEveryMs,
        exportTimeoutMillis: 2 * giveUpMs,
      }),
    ],
  });
  return {
    tracer: requestSpans(provider.getTracer('tenancy-gateway', version), clock),
    close: () =>
      new Promise((resolve) => {
        const callOff = timers.after(closeMs, resolve);
        void provider
          .shutdown()
          .catch(() => undefined)
          .then(callOff)
          .then(resolve);
      }),
  };
}

/** Looks a collector's name up before its exporter does, which holds threads that PostgreSQL and Redis need. */
function afterLookup(exporter: SpanExporter, url: string, lookup: LookupFunction): SpanExporter {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return {
    export: (spans, done) =>
      lookup(host, { all: true }, (error) =>
        error === null ? exporter.export(spans, done) : done({ code: exportSucceeded + 1, error }),
      ),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

const sayAgainMs = 60_000;

/** Wraps an exporter to log lost spans, at most once a minute. The wrapper reports every export as a success. */
function reporting(exporter: SpanExporter, logger: Logger, clock: Clock): SpanExporter {
  let quietUntilMs = -Infinity;
  let lost = 0;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (Number(result.code) !== exportSucceeded) {
          lost += spans.length;
          if (clock.monotonicMs() >= quietUntilMs) {
            logger.warn(
              { err: result.error, spans: lost },
              'the collector does not accept traces: spans are lost',
            );
            quietUntilMs = clock.monotonicMs() + sayAgainMs;
            lost = 0;
          }
        }
        done({ code: exportSucceeded });
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

/** `ExportResultCode.SUCCESS` from `@opentelemetry/core`. */
const exportSucceeded = 0;
