import type { Context } from './context.ts';
import type { Change, Receipt } from './operator-api.ts';
import { styled } from './output.ts';

/**
 * Makes a change and outputs its result and receipt. In JSON the receipt is in the member `enforced`.
 *
 * @throws {Failure}
 */
export async function makeChange<T extends object>(
  context: Context,
  [method, path, body]: Parameters<Change>,
  show: (changed: T) => string,
): Promise<void> {
  const { value, enforced } = await context.api().change<T>(method, path, body);
  if (enforced === null) context.output().result(value, () => show(value));
  else context.output().result({ ...value, enforced }, () => `${show(value)}\n\n${showReceipt(enforced)}`);
}

/** Formats a receipt as text. */
export function showReceipt({ replicas, ms, unheard, streams }: Receipt): string {
  return [
    `In force on ${count(replicas, 'replica')} after ${ms} ms.`,
    ...(unheard === 0
      ? []
      : [styled('yellow', `${count(unheard, 'replica')} did not confirm, so its lease had to end first.`)]),
    ...(streams === 0 ? [] : [`${count(streams, 'open stream')} ended.`]),
  ].join(' ');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
