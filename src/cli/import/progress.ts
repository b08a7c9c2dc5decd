/** The stream that a command writes its progress to, separate from its result. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const barWidth = 24;
/** Minimum milliseconds between updates of the bar. */
const barEveryMs = 100;
/** Minimum milliseconds between progress lines, if the stream is not a terminal. */
const lineEveryMs = 5_000;

/** Shows the progress of a command, as a bar on a terminal and otherwise as a line at intervals. */
export class Progress {
  readonly #stream: ProgressStream | null;
  readonly #now: () => number;
  #label = '';
  #total = 0;
  #done = 0;
  #begunMs = 0;
  #shownMs = 0;
  /** Number of finished rows at the last update. */
  #shown = 0;

  /**
   * @param stream where to write; `null` to show nothing
   * @param now returns the milliseconds of a monotonic clock
   */
  constructor(stream: ProgressStream | null, now: () => number = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
  }

  begin(label: string, total: number): void {
    [this.#label, this.#total, this.#done, this.#shown] = [label, total, 0, 0];
    this.#begunMs = this.#shownMs = this.#now();
    if (this.#stream?.isTTY === true) this.#show();
  }

  add(rows: number): void {
    this.#done += rows;
    const everyMs = this.#stream?.isTTY === true ? barEveryMs : lineEveryMs;
    if (this.#now() - this.#shownMs >= everyMs) this.#show();
  }

  /** Shows the final progress, as a bar on a terminal and otherwise as a line. */
  end(): void {
    if (this.#stream?.isTTY === true || this.#shown < this.#done) this.#show();
    if (this.#stream?.isTTY === true) this.#stream.write('\n');
  }

  /** Writes a message on a line of its own, above the bar. */
  note(text: string): void {
    this.#stream?.write(this.#stream.isTTY === true ? `\r\u001b[K${text}\n` : `${text}\n`);
  }

  #show(): void {
    if (this.#stream === null) return;
    [this.#shownMs, this.#shown] = [this.#now(), this.#done];
    const text = this.#text();
    this.#stream.write(
      this.#stream.isTTY === true ? `\r${text.slice(0, this.#stream.columns ?? 80)}\u001b[K` : `${text}\n`,
    );
  }

  #text(): string {
    const share = this.#total === 0 ? 1 : this.#done / this.#total;
    const seconds = (this.#now() - this.#begunMs) / 1000;
    const rate = seconds > 0 ? this.#done / seconds : 0;
    const full = Math.round(share * barWidth);
    const bar = this.#stream?.isTTY === true ? `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}] ` : '';
    const left = rate > 0 && share < 1 ? `, ${clock((this.#total - this.#done) / rate)} left` : '';
    const counts = `${inThousands(this.#done)} of ${inThousands(this.#total)}`;
    return `${this.#label.padEnd(12)} ${bar}${counts}, ${inThousands(Math.round(rate))}/s${left}`;
  }
}

/** Formats a time as minutes and seconds, such as `1:05`. */
function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** Formats a number with commas, such as `100,000`. */
export function inThousands(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
