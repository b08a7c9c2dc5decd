import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Origins } from '../environment.ts';
import { formatPath, isMapping, setAt, type Path } from '../pointer.ts';
import type { SchemaFault } from '../validate.ts';

const folderPath: Path = ['internal', 'admin_tokens_dir'];

/**
 * Adds tokens to `internal.admin_tokens` from the folder that `internal.admin_tokens_dir` names. Each file is named
 * after its operator, as in a Secret mounted by Kubernetes. Names that begin with a dot are skipped, because Kubernetes
 * uses them for links.
 *
 * @returns `origins`: the file that each token came from, so that a fault can name it; `faults`: files that cannot be
 * read or whose name is also in `admin_tokens`
 */
export function addTokenFiles(document: Record<string, unknown>): {
  readonly origins: Origins;
  readonly faults: readonly SchemaFault[];
} {
  const { internal } = document;
  const folder = isMapping(internal) ? internal['admin_tokens_dir'] : undefined;
  const origins = new Map<string, string>();
  const faults: SchemaFault[] = [];
  if (!isMapping(internal) || typeof folder !== 'string') return { origins, faults };
  const present = isMapping(internal['admin_tokens']) ? new Set(Object.keys(internal['admin_tokens'])) : null;
  for (const name of namesIn(folder, faults)) {
    const detail = (what: string): string => `${name}: ${what}`;
    const path = ['internal', 'admin_tokens', name];
    if (present?.has(name)) {
      faults.push({ path: folderPath, detail: detail('has a token in admin_tokens, too') });
      continue;
    }
    try {
      setAt(document, path, readFileSync(join(folder, name), 'utf8').trim());
      origins.set(formatPath(path), join(folder, name));
    } catch (error) {
      faults.push({ path: folderPath, detail: detail(`the file cannot be read (${codeOf(error)})`) });
    }
  }
  return { origins, faults };
}

function namesIn(folder: string, faults: SchemaFault[]): string[] {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith('.'));
  } catch (error) {
    faults.push({ path: folderPath, detail: `the folder cannot be read (${codeOf(error)})` });
    return [];
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}
