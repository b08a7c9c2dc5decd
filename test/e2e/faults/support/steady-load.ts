/** Requests at a steady pace, whatever becomes of the ones before. */
import { Pool } from 'undici';

export interface SteadyLoad {
  /** Ends it; resolves when the last request has its response. */
  stop(): Promise<LoadOutcome>;
}

export interface LoadOutcome {
  readonly sent: number;
  readonly failed: number;
  /** What became of the first that failed. */
  readonly failures: readonly string[];
  /** From when a request was due to its last byte. */
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly slowestMs: number;
}

const tickMs = 10;
const fewFailures = 20;

/** Every other request writes. Anything but 200 with a whole body is a failure. */
export function startLoad(url: string, key: string, perSecond: number): SteadyLoad {
  const pool = new Pool(url, { connections: 64, pipelining: 1 });
  const began = performance.now();
  const underWay = new Set<Promise<void>>();
  const failures: string[] = [];
  const tookMs: number[] = [];
  let sent = 0;
  let failed = 0;

  const ticking = setInterval(() => {
    const due = Math.floor(((performance.now() - began) / 1000) * perSecond);
    while (sent < due) {
      const one = send(sent++).finally(() => underWay.delete(one));
      underWay.add(one);
    }
  }, tickMs);

  async function send(number: number): Promise<void> {
    const dueMs = began + ((number + 1) / perSecond) * 1000;
    try {
      const { statusCode, body } = await pool.request({
        path: `/item/${number}`,
        method: number % 2 === 0 ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: number % 2 === 0 ? null : 'payload',
      });
      const text = await body.text();
      if (statusCode !== 200) note(`${statusCode} ${text}`);
    } catch (error) {
      note(String(error));
    }
    tookMs.push(performance.now() - dueMs);
  }

  function note(failure: string): void {
    failed += 1;
    if (failures.length < fewFailures)
      failures.push(`after ${Math.round(performance.now() - began)} ms: ${failure}`);
  }

  return {
    stop: async () => {
      clearInterval(ticking);
      await Promise.all(underWay);
      await pool.close();
      tookMs.sort((a, b) => a - b);
      const at = (share: number): number => tookMs[Math.floor((tookMs.length - 1) * share)] ?? 0;
      return { sent, failed, failures, medianMs: at(0.5), p99Ms: at(0.99), slowestMs: at(1) };
    },
  };
}
