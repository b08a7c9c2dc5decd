/** A fault in the configuration. Its details name keys and the expected values; they never show a value. */
export interface Fault {
  /** Place of the fault: a variable's name, or the path of a key with its place in the file. */
  readonly where: string;
  readonly detail: string;
}

/** Exit code of a process that does not start because of its configuration (`EX_CONFIG` of sysexits.h). */
export const badConfigurationExitCode = 78;

/** Formats every fault for a terminal. */
export function formatFaults(faults: readonly Fault[], consequence = ''): string {
  const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`;
  const width = Math.min(48, Math.max(...faults.map((fault) => fault.where.length)));
  const lines = faults.map((fault) => `  ${fault.where.padEnd(width)}  ${fault.detail}`);
  return `The configuration has ${count}${consequence}.\n\n${lines.join('\n')}\n`;
}
