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
}

/** Traces that go to a collector. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Sends what is left, if the collector takes it soon. */
  close(): Promise<void>;
}

/** Spans that wait at most; what comes on top is lost, so that a collector that is away costs neither memory nor time. */
const mostWaiting = 4096;
const sendEveryMs = 1_000;
const giveUpMs = 5_000;
const closeMs = 1_000;

/**
 * Starts sending traces by OTLP/HTTP. The sampled flag of the trace a request is in holds; others are sampled by ratio.
 * The variables `OTEL_EXPORTER_OTLP_HEADERS`, `…_CERTIFICATE` and `…_COMPRESSION` count, as the exporter reads them.
 */
export function startTracing({ config, version, clock, timers, logger }: TracingParts): Tracing {
  const exporter = new OTLPTraceExporter({ url: config.endpoint, timeoutMillis: giveUpMs });
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

const sayAgainMs = 60_000;

/** Says in the log, now and then, that spans are lost. To the gateway that is no failure. */
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
              'the collector does not take traces: spans are lost',
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

/** `ExportResultCode.SUCCESS` of `@opentelemetry/core`. */
const exportSucceeded = 0;
