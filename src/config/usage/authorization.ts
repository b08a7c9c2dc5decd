import { readFileSync } from 'node:fs';

/**
 * Reads the value of the `Authorization` header from the file that `usage.export.authorization_file` names. The file
 * holds one line; leading and trailing spaces are removed.
 *
 * @throws TypeError if the file is not a single line of visible ASCII; also any error from reading the file
 */
export function readAuthorization(file: string): string {
  const text = readFileSync(file, 'utf8').trim();
  if (!/^[!-~]+( [!-~]+)*$/.test(text))
    throw new TypeError('the file must hold one line, such as `Bearer` and a token');
  return text;
}
