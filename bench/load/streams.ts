import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../lib/clock.ts';
import type { Running } from '../targets/target.ts';
import { get, headersOf } from './requests.ts';

const atOnce = 20;
const openingLimitMs = 10_000;

/** Open event streams; each event carries the system's monotonic clock at its writing. */
export class Streams {
  /** From an event's writing to its arrival here, milliseconds. */
  delaysMs: number[] = [];
  readonly #requests: ClientRequest[] = [];
  #open = 0;
  #lastFailure = 'the others got no response';

  /** What became of a stream that is not open, where anything did. */
  get lastFailure(): string {
    return this.#lastFailure;
  }

  /** How many are open. */
  get open(): number {
    return this.#open;
  }

  /**
   * Opens them a few at a time. Resolves when all heads have arrived, or after a while with fewer: a proxy may have
   * only so many connections to its upstream.
   */
  async start(running: Running, count: number): Promise<void> {
    const deadline = performance.now() + openingLimitMs;
    while (this.#open < count && performance.now() < deadline) {
      const unanswered = this.#requests.length - this.#open;
      const more = Math.min(atOnce - unanswered, count - this.#requests.length);
      for (let i = 0; i < more; i++) this.#openOne(running);
      await sleep(1);
    }
  }

  close(): void {
    for (const sent of this.#requests) sent.destroy();
  }

  #openOne(running: Running): void {
    const headers = headersOf(running, get('/events'));
    const sent = request({ host: '127.0.0.1', port: running.port, path: '/events', headers, agent: false });
    this.#requests.push(sent);
    sent.on('error', (error) => (this.#lastFailure = error.message));
    sent.on('response', (response) => this.#read(response));
    sent.end();
  }

  #read(response: IncomingMessage): void {
    response.on('error', () => undefined);
    if (response.statusCode !== 200) {
      this.#lastFailure = `the last response was ${response.statusCode}`;
      return void response.resume();
    }
    this.#open++;
    response.on('close', () => this.#open--);
    let rest = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      const events = (rest + chunk).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) this.delaysMs.push(monotonicMs() - Number(event.slice('data: '.length)));
    });
  }
}
