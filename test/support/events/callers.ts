/** Those who change a parent at random: its key, and operators, through the API or the command line. */
import type { Random } from '../coherence/random.ts';
import type { HttpResponse } from '../http-client.ts';
import { insist, type Ask, type Asked } from './gateways.ts';

type Method = Ask['method'];

const subAccounts = '/v1/sub-accounts';

/** An operator and its token. */
export interface NamedOperator {
  readonly name: string;
  readonly token: string;
}

export interface CallersOptions {
  readonly gateways: readonly Asked[];
  readonly operators: readonly NamedOperator[];
  readonly random: Random;
  /** Share of the changes that the command line can make which it makes. */
  readonly cliShare: number;
}

export class Callers {
  readonly #options: CallersOptions;

  constructor(options: CallersOptions) {
    this.#options = options;
  }

  anyOperator(): NamedOperator {
    return this.#options.random.pick(this.#options.operators);
  }

  /** An operator, or none: then the parent's key does it. */
  sometimesOperator(): NamedOperator | undefined {
    return this.#options.random.chance(0.3) ? this.anyOperator() : undefined;
  }

  /** Whether a change that the command line can make is made by it. */
  takesCli(): boolean {
    return this.#options.random.chance(this.#options.cliShare);
  }

  async cli({ token }: NamedOperator, ...args: readonly string[]): Promise<void> {
    const unreachable = 69;
    for (;;) {
      const { code } = await this.#options.random.pick(this.#options.gateways).cli(token, ...args);
      if (code === 0) return;
      if (code !== unreachable) throw new Error(`${args.join(' ')}: exit code ${code}`);
    }
  }

  operator({ token }: NamedOperator, method: Method, path: string, body?: unknown): Promise<HttpResponse> {
    return this.#send({ method, path, body, key: token, to: 'operator' });
  }

  /** A POST with an `Idempotency-Key`. */
  operatorCreates({ token }: NamedOperator, path: string, body: unknown): Promise<HttpResponse> {
    return this.#send({ method: 'POST', path, body, key: token, to: 'operator', once: true });
  }

  /** Under `/v1/sub-accounts`. @param status any of success where it is not said */
  parent(key: string, method: Method, path: string, body?: unknown, status?: number): Promise<HttpResponse> {
    return this.#send({ method, path: subAccounts + path, body, key, to: 'call' }, status);
  }

  /** A POST with an `Idempotency-Key`. */
  parentCreates(key: string, path: string, body: unknown): Promise<HttpResponse> {
    return this.#send({ method: 'POST', path: subAccounts + path, body, key, to: 'call', once: true });
  }

  /** A POST by the parent's key, or by an operator through the API or the command line. @param whole operator's path */
  async post(
    by: NamedOperator | undefined,
    key: string,
    path: string,
    whole: string,
    cli: string,
  ): Promise<void> {
    if (by === undefined) await this.parent(key, 'POST', path);
    else if (this.takesCli()) await this.cli(by, ...cli.split(' '));
    else await this.operator(by, 'POST', whole);
  }

  async #send(ask: Ask, status?: number): Promise<HttpResponse> {
    const response = await insist(this.#options.gateways, this.#options.random, ask);
    if (status === undefined ? response.status < 300 : response.status === status) return response;
    throw new Error(`${ask.method} ${ask.path}: ${response.status} ${response.text}`);
  }
}
