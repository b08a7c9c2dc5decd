// class: built
import t from 'tap';
import { bulkImport } from '../../support/bulk-import.ts';

t.test('an import that is killed is resumed by the same command, without duplicates', (t) =>
  bulkImport(t, 6_000, 'accounts'),
);
