// class: pure
/** The file of left-out rows that an import writes. */
import { existsSync } from 'node:fs';
import t from 'tap';
import { Report } from '../../../src/cli/import/report.ts';
import { Failure } from '../../../src/cli/failure.ts';

t.test('a report that cannot be written ends no import, and is told at the end', async (t) => {
  if (!existsSync('/dev/full')) return t.comment('NO /dev/full HERE: A FULL DISK WAS NOT TRIED');
  const report = await Report.open('/dev/full');
  for (let line = 1; line <= 3; line++)
    report.add({ line, type: 'account', row: { name: 'Ada' } }, 'limit', 'no room');
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(report.count, 3);
  await report.close();
  const error = await report.checkWritten().catch((error: unknown) => error);
  t.ok(error instanceof Failure);
  t.match(error, { message: 'The report /dev/full cannot be written (ENOSPC).' });
});
