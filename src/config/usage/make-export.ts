import type { UsageExportConfig } from '../../config.ts';
import type { GatewayFile } from '../gateway-file.ts';

/**
 * Makes the typed configuration of the usage export from its section, which must be free of faults. Returns `null` if
 * the section is left out: usage is then not exported.
 */
export function makeUsageExport(file: GatewayFile['usage']['export']): UsageExportConfig | null {
  if (file === undefined) return null;
  return {
    url: file.url,
    authorizationFile: file.authorization_file ?? null,
    format: file.format,
    batchSize: file.batch_size,
    timeoutMs: file.timeout_ms,
    subject: file.subject,
    delayMs: file.delay_s * 1000,
    caFile: file.ca_file ?? null,
  };
}
