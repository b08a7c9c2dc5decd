/** Streams of requests that operators watch (`GET /admin/v1/live`). */
import { request, type IncomingMessage } from 'node:http';
import { operatorToken } from './apis.ts';
import { eventually } from './eventually.ts';
import type { Scope } from './servers.ts';

/** Data of an event `state`. */
export interface WatchState {
  readonly replicas: readonly string[];
  readonly sampled: boolean;
  readonly dropped: number;
  readonly open: { readonly requests: number; readonly streams: number };
}

/** An open stream. */
export interface Watch {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: () => string;
  readonly lines: () => readonly Readonly<Record<string, unknown>>[];
  readonly states: () => readonly WatchState[];
  /** Whether the connection is closed. */
  readonly isOver: () => boolean;
  /** Whether the stream came to an orderly end. */
  readonly isWhole: () => boolean;
  readonly leave: () => void;
  /** Reads nothing any more. */
  readonly stopReading: () => void;
}

/** Headers that show a token. */
export function withToken(token = operatorToken): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` };
}

/** Opens a stream at an internal listener; it is closed with the test. */
export async function watch(
  t: Scope,
  internalOrigin: string,
  query = '',
  headers: Readonly<Record<string, string>> = withToken(),
): Promise<Watch> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`${internalOrigin}/admin/v1/live${query}`, { headers, agent: false }, resolve)
      .on('error', reject)
      .end();
  });
  t.teardown(() => void response.destroy());
  let [text, isOver, isWhole] = ['', false, false];
  response.setEncoding('utf8').on('data', (part: string) => (text += part));
  response.on('end', () => (isWhole = true));
  response.on('close', () => (isOver = true)).on('error', () => undefined);
  const dataOf = (kind: RegExp): readonly unknown[] =>
    text
      .split('\n\n')
      .slice(0, -1)
      .filter((event) => kind.test(event))
      .map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)) as unknown);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: () => text,
    lines: () => dataOf(/^data: /) as readonly Readonly<Record<string, unknown>>[],
    states: () => dataOf(/^event: state\n/) as readonly WatchState[],
    isOver: () => isOver,
    isWhole: () => isWhole,
    leave: () => void response.destroy(),
    stopReading: () => void response.pause(),
  };
}

/** Waits until a stream speaks for so many replicas. */
export async function speaksFor(stream: Watch, replicas: number): Promise<void> {
  await eventually(() => stream.states().at(-1)?.replicas.length === replicas);
}
