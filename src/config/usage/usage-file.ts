import { Type } from 'typebox';
import { integer, section, text } from '../keys.ts';
import { usageExport } from './export-file.ts';

/** The part of the file about usage. */
export const usage = section('What is counted for reports (docs/usage.md).', {
  journal_dir: Type.Optional(
    text(
      'Folder of the usage journals: what a process has counted and not yet added to the store, so that a crash loses none of it. On a disk of this machine, not on one that machines share; processes of one machine may share it. Left out: `usage` in `data_dir`.',
      { env: 'USAGE_JOURNAL_DIR' },
    ),
  ),
  journal_max_bytes: integer(
    'What the journal of one process may take on disk. It grows only while the database is away; where it is full, counts are kept in memory alone.',
    { minimum: 1_048_576, maximum: 1_099_511_627_776, default: 268_435_456 },
  ),
  lost_after_s: integer(
    'For how long a replica that is silent and has not ended in order holds back `complete_through` of reports. After that they say `incomplete` for the time whose counts it may have taken with it.',
    { minimum: 60, maximum: 34_560_000, default: 86_400 },
  ),
  hourly_retention_days: integer(
    'For how many days usage is kept by the hour (docs/billing.md). Older usage is there by the day.',
    { minimum: 2, maximum: 3_660, default: 62 },
  ),
  retention_months: integer(
    'For how many months usage is kept by the day, beside the running one. Older usage is deleted.',
    { minimum: 1, maximum: 1_200, default: 25 },
  ),
  export: usageExport,
});
