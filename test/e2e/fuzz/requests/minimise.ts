import type { RequestCase } from './case.ts';

const mostTries = 250;
const mostMs = 15_000;

/** Leaves out of a failing case what does not matter, in ever smaller pieces. */
export async function minimise(
  found: RequestCase,
  fails: (smaller: RequestCase) => Promise<boolean>,
): Promise<RequestCase> {
  let smallest: RequestCase = { ...found, splits: [] };
  if (!(await fails(smallest))) {
    smallest = found;
    if (!(await fails(smallest))) return found;
  }
  let tries = 0;
  const until = performance.now() + mostMs;
  for (let size = Math.ceil(smallest.bytes.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < smallest.bytes.length && tries < mostTries && performance.now() < until;) {
      const bytes = smallest.bytes.slice(0, at) + smallest.bytes.slice(at + size);
      const smaller = { ...smallest, bytes };
      tries += 1;
      if (bytes !== '' && (await fails(smaller))) smallest = smaller;
      else at += size;
    }
  }
  return smallest;
}
