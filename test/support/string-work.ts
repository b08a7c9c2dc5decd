/** What is counted: functions whose work grows with the text they are given. */
const counted = [
  [
    String.prototype,
    ['replace', 'replaceAll', 'includes', 'search', 'startsWith', 'indexOf', 'split', 'match'],
  ],
  [String.prototype, ['toLowerCase', 'toUpperCase', 'normalize', 'slice', 'trim', 'trimEnd']],
  // Not `exec`: others call it for each match.
  [RegExp.prototype, ['test']],
  [Buffer, ['from', 'byteLength']],
] as const;

/**
 * Counts the characters that the text functions of JavaScript look at while `work` runs: a measure of work that no busy
 * machine changes. A text that three functions look at counts three times.
 */
export function charactersReadBy(work: () => void): number;
/** The same until what `work` has begun comes to its end: of all that the process does meanwhile. */
export function charactersReadBy(work: () => Promise<void>): Promise<number>;
export function charactersReadBy(work: () => void | Promise<void>): number | Promise<number> {
  const { characters, restore } = counting();
  let waits: Promise<number> | undefined;
  try {
    waits = work()?.then(characters).finally(restore);
    return waits ?? characters();
  } finally {
    if (waits === undefined) restore();
  }
}

function counting(): { readonly characters: () => number; readonly restore: () => void } {
  let characters = 0;
  const undo: (() => void)[] = [];
  for (const [owner, names] of counted) {
    const methods = owner as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const name of names) {
      const sound = methods[name];
      if (sound === undefined) throw new Error(`there is no ${name}`);
      methods[name] = function (this: unknown, ...args: unknown[]) {
        const result = Reflect.apply(sound, this, args);
        const text = typeof this === 'string' ? this : args[0];
        if (typeof text === 'string') characters += lookedAt(name, text, args, result);
        return result;
      };
      undo.push(() => (methods[name] = sound));
    }
  }
  return {
    characters: () => characters,
    restore: () => {
      for (const restore of undo) restore();
    },
  };
}

/** All of a text, but of functions that end early or begin late. */
function lookedAt(name: string, text: string, [what, from]: readonly unknown[], result: unknown): number {
  if (name === 'slice') return String(result).length;
  if (name === 'startsWith') return Math.min(text.length, String(what).length);
  if (name !== 'indexOf') return text.length;
  return (result === -1 ? text.length : Number(result) + 1) - Number(from ?? 0);
}
