import {
  anything,
  contradicted,
  type Change,
  type Observation,
  type Stale,
} from '../../../support/coherence/staleness.ts';

/** Milliseconds on this process's monotonic clock: every time of a history is of the one process that asks. */
export function now(): number {
  return performance.now();
}

/** What is met in a run and judged in ways of its own. */
export type Situation = keyof History['met'];

export interface PendingChange {
  /** What it made, where that is known only afterwards. */
  became(value: unknown): void;
  /** Its 2xx has come. */
  responded(): void;
}

interface Mutable extends Change {
  value: unknown;
  responded: number | null;
}

/** What is known of one object. */
interface Story {
  readonly changes: Mutable[];
  /** Changes of which it is not known yet what they made. */
  open: number;
  /** Seen meanwhile. */
  readonly waiting: Observation[];
}

/**
 * What was asked for and what was seen. An observation is checked as soon as it is made, and only counted after that, so
 * that a run may go on for days: whatever is asked for or gets a response later than it ended cannot excuse or accuse it.
 */
export class History {
  readonly stale: Stale[] = [];
  /** Responses that no correct gateway gives, whatever goes wrong around it. */
  readonly odd: string[] = [];
  /** Decisions that were checked. */
  decisions = 0;
  /** Pieces of open streams that arrived. */
  streamed = 0;
  /** Quotas of which more passed than may. */
  readonly over: string[] = [];
  /** Quotas that were said to be used up, with room left. */
  readonly early: string[] = [];
  readonly met = {
    'change refused with triggers off': 0,
    'quota set under load': 0,
    'quota with PostgreSQL 40 ms away': 0,
    'quota not judged, since a replica began anew': 0,
  };
  /** Probes that were not decided: the gateway said so, or there was no response. */
  undecided = 0;
  /** How long each mutation took that got a 2xx, in milliseconds. */
  readonly mutationMs: number[] = [];
  readonly #stories = new Map<string, Story>();
  readonly #now: () => number;

  constructor(clock: () => number = now) {
    this.#now = clock;
  }

  /** The first state of an object. */
  begin(object: string, value: unknown): void {
    this.#storyOf(object).changes.push({ object, value, invoked: 0, responded: 0 });
  }

  /** Notes that a change is asked for. Returns how to say what came of it. */
  change(object: string, value: unknown): PendingChange {
    const change: Mutable = { object, value, invoked: this.#now(), responded: null };
    const story = this.#storyOf(object);
    story.changes.push(change);
    if (value === anything) story.open += 1;
    return {
      became: (made) => {
        if (change.value === anything) story.open -= 1;
        change.value = made;
        if (story.open === 0) this.#checkWaiting(story);
      },
      responded: () => {
        change.responded = this.#now();
        this.mutationMs.push(change.responded - change.invoked);
      },
    };
  }

  /** Checks a decision, where need be once {@link PendingChange.became} has told what it is to be measured by. */
  observe(observation: Observation): void {
    this.decisions += 1;
    const story = this.#storyOf(observation.object);
    story.waiting.push(observation);
    if (story.open === 0) this.#checkWaiting(story);
  }

  /** Checks what is left, leniently where it never became known what a change had made. */
  close(): void {
    for (const story of this.#stories.values()) this.#checkWaiting(story);
  }

  #checkWaiting({ changes, waiting }: Story): void {
    for (const observation of waiting.splice(0)) {
      const enforced = contradicted(changes, observation);
      if (enforced !== undefined) this.stale.push({ observation, enforced });
    }
  }

  #storyOf(object: string): Story {
    let story = this.#stories.get(object);
    if (story === undefined) this.#stories.set(object, (story = { changes: [], open: 0, waiting: [] }));
    return story;
  }
}
