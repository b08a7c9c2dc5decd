import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { LimitsConfig, RouteConfig } from '../config.ts';
import type { HeaderNames } from '../domain/header-names.ts';
import type { TrustedPeers } from '../http/trusted-peers.ts';
import type { Clock } from '../ports/clock.ts';
import type { Directory } from '../ports/directory.ts';
import type { RequestTrace, Tracer } from '../ports/tracer.ts';
import type { UsageSink } from '../ports/usage.ts';
import type { AnswerCleaner } from './headers/response-headers.ts';
import type { FailureLog } from './failure-log.ts';
import type { RequestObserver } from '../ports/request-record.ts';
import type { InFlight } from '../limits/concurrency.ts';
import type { OutboundHeaders } from './headers/request-headers.ts';
import type { AdmissionRules, Admission } from '../authz/proxied-request.ts';
import type { Streams } from './active-exchanges.ts';
import type { Upstream } from './upstream/upstream.ts';

/** What the exchanges of all routes share. */
export interface RelayTools {
  readonly directory: Directory;
  readonly clock: Clock;
  readonly usage: UsageSink;
  /** `null` where requests are not traced. */
  readonly tracer: Tracer | null;
  readonly onFinished: RequestObserver;
  readonly failures: FailureLog;
  readonly names: HeaderNames;
  readonly isTrusted: TrustedPeers;
  readonly outbound: OutboundHeaders;
  readonly answers: AnswerCleaner;
  readonly inFlight: InFlight;
  readonly streams: Streams;
  readonly limits: LimitsConfig;
}

/** A route ready to be used. */
export interface Relay {
  readonly route: RouteConfig;
  readonly rules: AdmissionRules;
  readonly upstream: Upstream;
  readonly tools: RelayTools;
}

/** The headers a request's upstream gets, of plain requests and of upgrades alike. Flat list of names and values. */
export function headersFor(
  { route, tools, upstream }: Relay,
  { rawHeaders, socket }: IncomingMessage,
  requestId: string,
  { admission, trace }: { readonly admission: Admission | null; readonly trace: RequestTrace | null },
): string[] {
  const context = {
    requestId,
    identity: admission,
    peer: socket.remoteAddress,
    peerTrusted: tools.isTrusted(socket),
    encrypted: (socket as Partial<TLSSocket>).encrypted === true,
  };
  const headers = tools.outbound(rawHeaders, context, route);
  trace?.forward(headers, upstream);
  return headers;
}
