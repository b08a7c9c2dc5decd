// class: pure
import t from 'tap';
import { prefersCsv } from '../../../src/api/rest/accept.ts';

t.test('CSV is sent where a client prefers it, and JSON in every other case', async (t) => {
  const csv = [
    'text/csv',
    'TEXT/CSV; charset=utf-8',
    'text/*',
    'text/csv, */*;q=0.1',
    'text/csv, */*',
    'text/csv;q=0.5, application/json;q=0.4',
    'application/json;q=0, */*',
    'text/html, text/csv;q=0.9',
    'text/csv ; q=1.000',
  ];
  const json = [
    undefined,
    '',
    '*/*',
    'application/json',
    'application/json, text/csv',
    'text/csv, application/json',
    'text/csv;q=0',
    'text/csv;q=0, */*',
    'text/csv;q=0.5, */*',
    'text/csv;q=high',
    'text/csv;q=0, text/*',
    'application/json, text/csv;q=0.9',
    'text/html',
    'text',
    'text/csv/x',
    ', ,',
  ];
  for (const accept of csv) t.equal(prefersCsv(accept), true, accept);
  for (const accept of json) t.equal(prefersCsv(accept), false, accept ?? 'none');
});
