// @ts-check
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);

/**
 * The absolute path of a file of this project.
 * @param {string} relative
 */
export function inProject(relative) {
  return fileURLToPath(new URL(relative, root));
}
