// class: night
import t from 'tap';
import { bulkImport } from '../../support/bulk-import.ts';

t.test('100,000 parents and keys: killed half-way through the keys, resumed, each there once', (t) =>
  bulkImport(t, 100_000, 'keys'),
);
