import { readFileSync } from 'node:fs';

/**
 * The value of the header `Authorization` in the file that `usage.export.authorization_file` names: one line, blanks around it aside.
 *
 * @throws TypeError where it is none; and what reading the file throws
 */
export function readAuthorization(file: string): string {
  const text = readFileSync(file, 'utf8').trim();
  if (!/^[!-~]+( [!-~]+)*$/.test(text))
    throw new TypeError('the file must hold one line, such as `Bearer` and a token');
  return text;
}
