/** What tests install into `.cache` to run programs of others. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Why a program cannot be run here: what it would take. */
export class Missing extends Error {}

/** Does the work unless it was done for the same wishes. A failure is {@link Missing} what it needs. */
export async function installedOnce(
  folder: string,
  wanted: string,
  needs: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const stamp = `${folder}.installed`;
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  mkdirSync(folder, { recursive: true });
  try {
    await work();
  } catch (error) {
    throw new Missing(`${needs}: ${lastLine(error)}`);
  }
  writeFileSync(stamp, wanted);
}

/** The last line that a program said, or of the error. */
export function lastLine(error: unknown): string {
  const { stderr, message } = error as { readonly stderr?: string; readonly message: string };
  return (stderr || message).trim().split('\n').at(-1) ?? '';
}
