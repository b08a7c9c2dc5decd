/** A fault in the configuration. Its detail names settings and says what is expected, but never shows a value. */
export interface Fault {
  /** Place of the fault: the name of a variable, or the place in the file and the path of the setting. */
  readonly where: string;
  readonly detail: string;
}

/** Exit code of a process that does not start because of its configuration (`EX_CONFIG` of sysexits.h). */
export const badConfigurationExitCode = 78;

/**
 * Formats all faults for a terminal.
 *
 * @param consequence text after the number of faults, such as `; nothing was started`
 */
export function formatFaults(faults: readonly Fault[], consequence = ''): string {
  const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`;
  const width = Math.min(48, Math.max(...faults.map((fault) => fault.where.length)));
  const lines = faults.map((fault) => `  ${fault.where.padEnd(width)}  ${fault.detail}`);
  return `The configuration has ${count}${consequence}.\n\n${lines.join('\n')}\n`;
}
