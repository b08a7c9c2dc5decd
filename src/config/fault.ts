/** A fault in the configuration. The detail names settings and says what is expected, but never shows a value. */
export interface Fault {
  /** Where the fault is: a variable name, or a position in the file and a setting path. */
  readonly where: string;
  readonly detail: string;
}

/** Exit code if the configuration keeps the process from starting (`EX_CONFIG` in sysexits.h). */
export const badConfigurationExitCode = 78;

/**
 * Formats faults for a terminal.
 *
 * @param consequence text after the number of faults, such as `; nothing was started`
 */
export function formatFaults(faults: readonly Fault[], consequence = ''): string {
  const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`;
  const width = Math.min(48, Math.max(...faults.map((fault) => fault.where.length)));
  const lines = faults.map((fault) => `  ${fault.where.padEnd(width)}  ${fault.detail}`);
  return `The configuration has ${count}${consequence}.\n\n${lines.join('\n')}\n`;
}
