import type { ServerResponse } from 'node:http';
import { monotonicMs } from '../lib/clock.ts';

const eventEveryMs = 1_000;
const tickMs = 5;

/** Endless `text/event-stream` responses with one event a second on each. An event carries {@link monotonicMs}. */
export class EventStreams {
  readonly #open = new Set<ServerResponse>();
  readonly #timer = setInterval(() => this.#write(), tickMs);
  #order: ServerResponse[] = [];
  #next = 0;
  #owed = 0;

  /** How many are open right now. */
  get count(): number {
    return this.#open.size;
  }

  /** Makes a stream of a response. */
  start(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.flushHeaders();
    this.#open.add(response);
    response.on('close', () => this.#open.delete(response));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Goes round the streams a few at a time: events that all leave at once would measure a queue of their own. */
  #write(): void {
    this.#owed += (this.#open.size * tickMs) / eventEveryMs;
    for (; this.#owed >= 1; this.#owed -= 1) {
      if (this.#next >= this.#order.length) {
        this.#order = [...this.#open];
        this.#next = 0;
      }
      const response = this.#order[this.#next++];
      if (response?.writable === true) response.write(`data: ${monotonicMs()}\n\n`);
    }
  }
}
