/** Milliseconds from a list, at a share of it; sorts in place. */
export function quantile(times: number[], share: number): number {
  times.sort((a, b) => a - b);
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? NaN;
}

export function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

/** @param value microseconds, as the load generator counts */
export function us(value: number): string {
  return ms(value / 1_000);
}

/** What came of a scenario. */
export interface Finding {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What was promised, and whether that is what was seen. */
  readonly promises: readonly Promised[];
}

export interface Promised {
  readonly what: string;
  readonly seen: string;
  readonly kept: boolean;
}
