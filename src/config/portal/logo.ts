import { readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import type { PortalConfig } from '../../config.ts';
import { problemOf } from '../check-files.ts';
import type { UncheckedFile } from '../gateway-file.ts';
import type { SchemaFault } from '../validate.ts';

const types: Readonly<Record<string, string>> = {
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
};

const mostBytes = 256 * 1024;

/** Reads the picture that `portal.logo_file` names; `null` if it names none or has faults. */
export function readLogo({ portal: { logo_file: file } }: Pick<UncheckedFile, 'portal'>): {
  readonly logo: PortalConfig['logo'];
  readonly faults: readonly SchemaFault[];
} {
  const fault = (detail: string) => ({ logo: null, faults: [{ path: ['portal', 'logo_file'], detail }] });
  if (file === undefined) return { logo: null, faults: [] };
  const type = types[extname(file).toLowerCase()];
  if (type === undefined) return fault(`must end with one of ${Object.keys(types).join(', ')}`);
  try {
    if (statSync(file).size > mostBytes) return fault('the file is larger than 256 KiB');
    return { logo: { type, base64: readFileSync(file).toString('base64') }, faults: [] };
  } catch (error) {
    return fault(problemOf(error));
  }
}
