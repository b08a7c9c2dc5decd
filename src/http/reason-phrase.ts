import { STATUS_CODES } from 'node:http';

/** Returns the reason phrase of a status, for a response of the gateway's own. */
export function reasonOf(status: number): string {
  return STATUS_CODES[status] ?? 'Unknown';
}
