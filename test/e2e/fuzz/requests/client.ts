import { connect } from 'node:net';
import { slowdown } from '../../../runner/slowdown.mjs';
import { valuesOf } from '../strict-head.ts';
import { readResponse, type StrictResponse, type StrictRequests } from '../strict.ts';

/** What a client got on its connection. */
export interface Heard {
  /** One for each request, as far as they came. */
  readonly responses: readonly StrictResponse[];
  /** What came after the last whole response. */
  readonly leftover: string;
  /** The gateway ended the connection. */
  readonly ended: boolean;
}

/** How long responses are waited for: those that must come, on a machine that does nothing else, and those that need not. */
const patienceMs = { owed: 6_000, uncertain: 150 };

/** Sends bytes on a connection of their own, in pieces, and listens until there is nothing more to expect. */
export function speak(
  port: number,
  bytes: string,
  splits: readonly number[],
  sent: StrictRequests,
): Promise<Heard> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const responses: StrictResponse[] = [];
    const { requests, unfinished } = sent;
    let text = '';
    let over = false;
    let sending = true;
    const finish = (ended: boolean): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      take();
      socket.destroy();
      resolve({ responses, leftover: text, ended });
    };
    const inTime = (owed: boolean): NodeJS.Timeout =>
      setTimeout(() => finish(false), owed ? patienceMs.owed * slowdown() : patienceMs.uncertain);
    let timer = inTime(true);
    const wait = (): void => {
      clearTimeout(timer);
      timer = inTime(sending || responses.length < requests.length);
    };
    const take = (): void => {
      while (text !== '') {
        const method = (requests[responses.length] ?? unfinished)?.method ?? 'GET';
        const response = readResponse(text, method);
        if (response.status === 0 && text.startsWith('HTTP/1.1 101')) return;
        if (response.state !== 'whole') return;
        responses.push(response);
        text = text.slice(response.end);
        if (valuesOf(response.fields, 'connection').includes('close')) return;
      }
    };
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      take();
      wait();
    });
    socket.on('error', () => undefined).on('close', () => finish(true));
    const cuts = [0, ...splits.filter((at) => at < bytes.length), bytes.length];
    const send = (index: number): void => {
      if (over) return;
      socket.write(Buffer.from(bytes.slice(cuts[index], cuts[index + 1]), 'latin1'));
      if (index + 2 < cuts.length) return void setTimeout(() => send(index + 1), 1);
      sending = false;
      wait();
    };
    send(0);
  });
}
