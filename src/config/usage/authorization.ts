import { readFileSync } from 'node:fs';

/**
 * Reads the value of the header `Authorization` from the file that `usage.export.authorization_file` names. The file
 * holds one line; spaces at either end are removed.
 *
 * @throws TypeError if the text is not one line of visible ASCII; also the errors of reading the file
 */
export function readAuthorization(file: string): string {
  const text = readFileSync(file, 'utf8').trim();
  if (!/^[!-~]+( [!-~]+)*$/.test(text))
    throw new TypeError('the file must hold one line, such as `Bearer` and a token');
  return text;
}
