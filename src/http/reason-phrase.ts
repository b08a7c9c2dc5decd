import { http } from '../http1/node-http.ts';

/** Returns the reason phrase of a status, for a response of the gateway's own. */
export function reasonOf(status: number): string {
  return http.STATUS_CODES[status] ?? 'Unknown';
}
