import type { Change, Observation } from '../../support/coherence/staleness.ts';

/** Milliseconds on this process's monotonic clock: every time of a history is of the one process that asks. */
export function now(): number {
  return performance.now();
}

export interface PendingChange {
  /** What it made, where that is known only afterwards. */
  became(value: unknown): void;
  /** Its 2xx has come. */
  answered(): void;
}

/** What was asked for and what was seen. */
export class History {
  readonly changes: Change[] = [];
  readonly observations: Observation[] = [];
  /** Answers that no correct gateway gives, whatever goes wrong around it. */
  readonly odd: string[] = [];
  /** Probes that were not decided: the gateway said so, or nobody answered. */
  undecided = 0;
  /** How long each mutation took that was answered, in milliseconds. */
  readonly mutationMs: number[] = [];

  /** The first state of an object. */
  begin(object: string, value: unknown): void {
    this.changes.push({ object, value, invoked: 0, answered: 0 });
  }

  /** Notes that a change is asked for. Returns how to say what came of it. */
  change(object: string, value: unknown): PendingChange {
    const change = { object, value, invoked: now(), answered: null as number | null };
    this.changes.push(change);
    return {
      became: (value) => {
        change.value = value;
      },
      answered: () => {
        change.answered = now();
        this.mutationMs.push(change.answered - change.invoked);
      },
    };
  }
}
