import type { IncomingMessage } from 'node:http';
import type { Caller } from '../domain/caller.ts';
import type { KeyId } from '../domain/ids.ts';
import { methodKind } from '../domain/method.ts';
import { ProblemError, type Problem } from '../domain/problem.ts';
import { headerValues } from '../http/raw-headers.ts';
import type { Facts, Wanted } from '../ports/directory.ts';
import type { FactKey } from '../ports/facts.ts';
import type { RequestTrace } from '../ports/tracer.ts';
import { tooManyUnderWay } from './problems.ts';
import type { Relay } from './route.ts';
import {
  admit,
  callerSettled,
  factsLivedBy,
  readClaims,
  type Admission,
  type Claims,
  type Rejection,
} from '../authz/proxied-request.ts';

/** What happens to a request once it was decided about. Both are called in the tick of the decision. */
export interface Parties {
  admitted(): void;
  /** @param cause for the log */
  refused(problem: Problem, cause?: unknown): void;
}

/** What is decided about one request, as often as it has to be, and the place it holds while it is under way. */
export class Judgement {
  /** Set while the request is admitted. */
  admission: Admission | null = null;
  /** Set as soon as it is known, for the log. */
  caller: Caller | null = null;
  /** The same for the key, which may be known where nobody may call with it. */
  keyId: KeyId | null = null;
  /** `null` where requests are not traced. */
  readonly trace: RequestTrace | null;
  readonly #relay: Relay;
  readonly #parties: Parties;
  #claims: Claims | null = null;

  constructor(relay: Relay, request: IncomingMessage, parties: Parties) {
    this.trace = relay.tools.tracer?.begin(request, relay.route.prefix) ?? null;
    this.#relay = relay;
    this.#parties = parties;
  }

  /** Reads what the request claims and decides. */
  open({ method = '', rawHeaders }: IncomingMessage): void {
    const kind = methodKind(method);
    if (kind === undefined) throw new Error('a method that is not served came through');
    this.trace?.judging();
    const { names } = this.#relay.tools;
    const claims = readClaims(
      headerValues(rawHeaders, 'authorization'),
      headerValues(rawHeaders, names.acting.toLowerCase()),
      kind,
    );
    if ('problem' in claims) return this.#parties.refused(claims.problem);
    this.#claims = claims;
    this.#relay.tools.directory.settle(this.#attempt, this.#onVerdict, this.#onFailure);
  }

  /** Decides once more, as if the request had come just now. */
  reopen(): void {
    this.close();
    this.#relay.tools.directory.settle(this.#attempt, this.#onVerdict, this.#onFailure);
  }

  /** Whether the same would be decided at this very moment. */
  stillHolds(): boolean {
    const before = this.admission;
    // A preflight is from nobody; there is nothing to decide.
    if (before === null) return true;
    let holds = false;
    this.#relay.tools.directory.settle(
      this.#attempt,
      (now) => {
        holds = 'permit' in now && now.permit.resolvedTenant === before.permit.resolvedTenant;
      },
      ignore,
    );
    // A directory that has to load something first answers later: then it does not hold now.
    return holds;
  }

  /** Gives the place back. What was decided counts no longer. */
  close(): void {
    if (this.admission !== null) this.#relay.tools.inFlight.leave(this.admission.permit.resolvedTenant);
    this.admission = null;
  }

  /** Whether the key has run out since: nobody withdraws it then, time does. */
  get expired(): boolean {
    const expiresAtMs = this.admission?.expiresAtMs ?? null;
    return expiresAtMs !== null && expiresAtMs <= this.#relay.tools.clock.wallMs();
  }

  /** Facts that must stay as they are for the request to go on. */
  livesBy(): readonly FactKey[] {
    return this.admission === null || this.#claims === null
      ? []
      : factsLivedBy(this.#claims.digest, this.admission);
  }

  readonly #attempt = (facts: Facts): Admission | Rejection | Wanted => {
    const { rules, tools } = this.#relay;
    const nowMs = tools.clock.wallMs();
    if (this.trace !== null && callerSettled(facts, this.#claims as Claims, nowMs))
      this.trace.authenticated();
    return admit(facts, this.#claims as Claims, rules, nowMs);
  };

  readonly #onVerdict = (verdict: Admission | Rejection): void => {
    this.caller = verdict.caller;
    this.keyId = 'problem' in verdict ? verdict.keyId : verdict.caller.keyId;
    this.trace?.decided();
    if ('problem' in verdict) return this.#parties.refused(verdict.problem);
    if (!this.#relay.tools.inFlight.enter(verdict.permit.resolvedTenant))
      return this.#parties.refused(tooManyUnderWay);
    this.admission = verdict;
    this.#parties.admitted();
  };

  readonly #onFailure = (error: unknown): void => {
    if (error instanceof ProblemError) return this.#parties.refused(error.problem, error.cause);
    this.#parties.refused({ code: 'internal', detail: 'The gateway failed.' }, error);
  };
}

function ignore(): void {
  /* What is not decided now does not hold. */
}
