/** Asks of gateways that may be away for a moment: until it is known what became of each. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../coherence/random.ts';
import type { Call, HttpResponse } from '../http-client.ts';

/** A gateway, by its two listeners; an operator's call takes its token as `key`. */
export interface Asked {
  readonly call: Call;
  readonly operator: Call;
  /** Runs the command line against it, with this operator's token. */
  readonly cli: (token: string, ...args: readonly string[]) => Promise<{ readonly code: number | null }>;
}

/** A request, but for which gateway gets it. */
export interface Ask {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  readonly path: string;
  readonly body?: unknown;
  /** The API key or the operator's token. */
  readonly key: string;
  readonly to: 'call' | 'operator';
  /** Is sent with an `Idempotency-Key`: again, it makes nothing a second time. */
  readonly once?: true;
}

/**
 * What a gateway that went away had sent to the database is done by then: an attempt that came after a later change would
 * be a change of its own.
 */
const settleMs = 500;
const giveUpMs = 120_000;

/** Sends a request to any of the gateways until one says what became of it. */
export async function insist(gateways: readonly Asked[], random: Random, ask: Ask): Promise<HttpResponse> {
  const { method, path, body, key, to, once } = ask;
  const headers = once ? { 'idempotency-key': randomUUID() } : {};
  const send = (through: Call): Promise<HttpResponse> => through(method, path, { key, headers, body });
  const call = (): Promise<HttpResponse | null> => send(random.pick(gateways)[to]).catch(() => null);
  const giveUp = Date.now() + giveUpMs;
  for (;;) {
    const response = await call();
    if (response !== null && isFinal(response)) {
      if (once && response.status < 300 && random.chance(0.2)) await mustBeReplayed(call);
      return response;
    }
    if (Date.now() > giveUp) throw new Error(`${method} ${path}: ${response?.text ?? 'no gateway responds'}`);
    await sleep(settleMs);
  }
}

/** Codes of responses that ask for a repetition: the request before is under way, or waited too long for the store. */
const repeated: unknown[] = ['idempotency_in_flight', 'too_many_requests'];

function isFinal({ status, body }: HttpResponse): boolean {
  return status < 500 && !repeated.includes(body['code']);
}

async function mustBeReplayed(call: () => Promise<HttpResponse | null>): Promise<void> {
  const again = await call();
  if (again === null || !isFinal(again)) return;
  if (again.headers['idempotency-replayed'] !== 'true') throw new Error(`not replayed: ${again.text}`);
}
