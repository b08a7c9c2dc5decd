// @ts-check

/**
 * Tells a person what is going on, on stderr: stdout belongs to the program that is being started.
 * @param {string} line
 */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/**
 * Tells a person what is going on while it goes on: by a line that moves in a terminal, else by one at the beginning. Says
 * at the end how long it took.
 * @template T
 * @param {string} doing such as `Building`
 * @param {string} done such as `Built`
 * @param {() => Promise<T>} work must leave the event loop free, for the line to move
 * @returns {Promise<T>}
 */
export async function during(doing, done, work) {
  const began = Date.now();
  const seconds = () => (Date.now() - began) / 1000;
  const moves = process.stderr.isTTY === true;
  const draw = () => void process.stderr.write(`\r\x1b[K${doing} … ${seconds().toFixed(0)} s`);
  if (!moves) say(`${doing} ...`);
  const moving = moves && setInterval(draw, 250);
  try {
    const result = await work();
    say(`${moves ? '\r\x1b[K' : ''}${done} in ${seconds().toFixed(1)} s.`);
    return result;
  } catch (error) {
    if (moves) say('');
    throw error;
  } finally {
    if (moving) clearInterval(moving);
  }
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
