// class: night
import t from 'tap';
import { doesEveryCase } from './matrix-test.ts';

t.test('every client does every case of docs/clients.md, in the clear and over TLS', async (t) => {
  await doesEveryCase(t, () => true);
});
