// @ts-check

/**
 * Tells a person what is going on, on stderr: stdout belongs to the program that is being started.
 * @param {string} line
 */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/**
 * Says what went wrong and ends the process.
 * @param {unknown} error
 * @returns {never}
 */
export function fail(error) {
  say(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
