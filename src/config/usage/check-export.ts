import { checkAuthorities, problemOf, read } from '../check-files.ts';
import type { UncheckedFile } from '../gateway-file.ts';
import type { SchemaFault } from '../validate.ts';
import { readAuthorization } from './authorization.ts';

const section = ['usage', 'export'];

/** Checks that the files for the usage export exist, are readable and are of the right kind. */
export function checkUsageExport({ usage }: UncheckedFile): SchemaFault[] {
  const { authorization_file: authorization, ca_file: ca } = usage.export ?? {};
  const faults = ca === undefined ? [] : checkAuthorities([...section, 'ca_file'], read(ca));
  if (authorization !== undefined) faults.push(...checkAuthorization(authorization));
  return faults;
}

function checkAuthorization(file: string): SchemaFault[] {
  try {
    readAuthorization(file);
    return [];
  } catch (error) {
    const detail = error instanceof TypeError ? error.message : problemOf(error);
    return [{ path: [...section, 'authorization_file'], detail }];
  }
}
