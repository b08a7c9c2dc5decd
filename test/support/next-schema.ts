/** SQL files of made-up versions that come after this one. */
import {
  readSchemaFiles,
  sha256,
  type SchemaFiles,
  type Step,
} from '../../src/adapters/postgres/schema/files.ts';

/** A step after those of this version, as its file would be read. Without `compatibleWith` older code refuses it. */
export function step(number: number, name: string, text: string, compatibleWith = number): Step {
  return { number, name, text, checksum: sha256(text), compatibleWith };
}

/** The files of this version with more steps, and with functions of another number after which `text` comes. */
export async function nextSchema(
  more: readonly Step[],
  functions?: { readonly number: number; readonly text: string },
): Promise<SchemaFiles> {
  const own = await readSchemaFiles();
  const text = own.functions.text + (functions?.text ?? '');
  return {
    ...own,
    steps: [...own.steps, ...more],
    functions: functions ? { number: functions.number, text, checksum: sha256(text) } : own.functions,
  };
}
