import { Type } from 'typebox';
import { integer, section, text } from '../setting-types.ts';
import { usageExport } from './export-file.ts';

/** The section `usage` of the configuration file. */
export const usage = section('Counting of requests for reports (docs/usage.md).', {
  journal_dir: Type.Optional(
    text(
      'Folder of the usage journals. They keep counts that are not yet in the database, so that a crash loses none. It must be on a disk of this machine, not on one that machines share; processes of one machine may share it. Left out: `usage` in `data_dir`.',
      { env: 'USAGE_JOURNAL_DIR' },
    ),
  ),
  journal_max_bytes: integer(
    'Most disk space that the journal of one process takes. It grows only while the database cannot be reached; once it is full, further counts are kept only in memory.',
    { minimum: 1_048_576, maximum: 1_099_511_627_776, default: 268_435_456 },
  ),
  lost_after_s: integer(
    'How long a replica that fell silent without a regular stop holds back `complete_through` of reports, after the end of its lease or until an operator forgets it. Afterwards reports say `incomplete` for the hours whose counts it may have lost.',
    { minimum: 60, maximum: 34_560_000, default: 900 },
  ),
  hourly_retention_days: integer(
    'Days for which hourly usage is kept (docs/billing.md). Older usage is kept by the day.',
    { minimum: 2, maximum: 3_660, default: 62 },
  ),
  retention_months: integer(
    'Months for which daily usage is kept, not counting the current one. Older usage is deleted.',
    { minimum: 1, maximum: 1_200, default: 25 },
  ),
  keys_per_account_hour: integer(
    'Most API keys that have a row of their own in the usage of an account and hour. The other keys of that account and hour share one row, which reports by key show with the nil UUID as its key.',
    { minimum: 1, maximum: 10_000, default: 200 },
  ),
  units_header: Type.Optional(
    text(
      'Response header in which services state what a request was worth, in tokens, rows or megabytes: a whole number (docs/usage.md). Left out: no response states units.',
      { format: 'header-name', examples: ['X-Units'] },
    ),
  ),
  export: usageExport,
});
