import { lookup as systemLookup } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { UsageExportConfig } from '../../config.ts';
import { http } from '../../http1/node-http.ts';
import type { Timers } from '../../ports/timers.ts';
import { PushFailed, type Receiver } from '../../ports/usage/receiver.ts';
import { singlesAtOnce } from './batches.ts';

/** Maximum number of characters of an error response to log. */
const toldOfResponse = 300;
/** Maximum number of characters of a response to read. */
const readOfResponse = 4_096;

/** Contents of the files that `authorizationFile` and `caFile` name. */
export interface ReceiverSecrets {
  /** Value of the `Authorization` header. */
  readonly authorization: string | null;
  /** PEM certificates of the authorities trusted for the receiver; `null` to trust the machine's authorities. */
  readonly ca: Buffer | null;
}

/**
 * Makes the client that sends CloudEvents 1.0 to the receiver over HTTP, batched or structured (HTTP protocol binding,
 * sections 3.3 and 3.2).
 */
export function openReceiver(
  { url, format, timeoutMs }: Pick<UsageExportConfig, 'url' | 'format' | 'timeoutMs'>,
  { authorization, ca }: ReceiverSecrets,
  timers: Timers,
  lookup: LookupFunction = systemLookup,
): Receiver {
  const secure = url.startsWith('https:');
  const connection = { keepAlive: true, maxSockets: format === 'batch' ? 1 : singlesAtOnce, lookup };
  const agent = secure
    ? new https.Agent({ ...connection, ...(ca !== null && { ca }) })
    : new http.Agent(connection);
  const send = async (contentType: string, content: unknown, signal: AbortSignal): Promise<void> => {
    const body = Buffer.from(JSON.stringify(content));
    const timeout = new AbortController();
    const callOff = timers.after(timeoutMs, () =>
      timeout.abort(new Error(`no response within ${timeoutMs} ms`)),
    );
    const either = AbortSignal.any([signal, timeout.signal]);
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const headers = {
          'Content-Type': contentType,
          'Content-Length': body.length,
          'User-Agent': 'tenancy-gateway',
          ...(authorization !== null && { Authorization: authorization }),
        };
        const request = (secure ? https : http).request(url, {
          method: 'POST',
          headers,
          agent,
          signal: either,
        });
        request.on('response', resolve);
        request.on('error', (cause) => reject(new PushFailed(messageOf(either, cause), null, 0, { cause })));
        request.end(body);
      });
      await mustBeAccepted(response, authorization);
    } finally {
      callOff();
    }
  };
  return {
    async push(events, signal) {
      if (format === 'batch') return send('application/cloudevents-batch+json', events, signal);
      await inParallel(events, (event) => send('application/cloudevents+json', event, signal));
    },
    close: () => agent.destroy(),
  };
}

/**
 * Sends events, {@link singlesAtOnce} at a time. After an error no further event is sent.
 *
 * @throws the first error that is not about an event's content; if all errors are about content, the first error
 */
async function inParallel<T>(events: readonly T[], send: (event: T) => Promise<void>): Promise<void> {
  const left = events.values();
  const errors: unknown[] = [];
  const sendRest = async (): Promise<void> => {
    for (const event of left) {
      if (errors.length > 0) return;
      await send(event).catch((error: unknown) => void errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: singlesAtOnce }, sendRest));
  const isAboutEvent = (error: unknown): boolean => error instanceof PushFailed && error.aboutEvents;
  if (errors.length > 0) throw errors.find((error) => !isAboutEvent(error)) ?? errors[0];
}

function messageOf(signal: AbortSignal, error: Error): string {
  return signal.aborted ? (signal.reason as Error).message : error.message;
}

/** Reads a response and throws unless its status is 2xx. Only the status decides, even if the body is cut off. */
async function mustBeAccepted(response: IncomingMessage, authorization: string | null): Promise<void> {
  const { statusCode: status = 0, headers } = response;
  let text = '';
  response.setEncoding('latin1');
  try {
    for await (const piece of response) text = (text + String(piece)).slice(0, readOfResponse);
  } catch {
    // The body was cut off.
  }
  if (status >= 200 && status < 300) return;
  const said = withoutSecret(text, authorization).slice(0, toldOfResponse);
  const seconds = /^\d{1,6}$/.test(headers['retry-after'] ?? '') ? Number(headers['retry-after']) : 0;
  throw new PushFailed(
    `the receiver responded with ${status}${said === '' ? '' : `: ${said}`}`,
    status,
    seconds * 1000,
  );
}

/** Removes the secret from `text`, which is at most the first {@link readOfResponse} characters of a response. */
function withoutSecret(text: string, authorization: string | null): string {
  if (authorization === null) return text;
  const without = text.replaceAll(authorization, '…').replaceAll(secretOf(authorization), '…');
  // A text that was cut off may end in the middle of the secret, so its last characters are removed too.
  return text.length < readOfResponse ? without : without.slice(0, -authorization.length);
}

/** Returns the value of `Authorization` without the scheme, for example without `Bearer`. */
function secretOf(authorization: string): string {
  return authorization.slice(authorization.lastIndexOf(' ') + 1);
}
