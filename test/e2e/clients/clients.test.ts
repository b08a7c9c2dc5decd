// class: built
import t from 'tap';
import { doesEveryCase } from './matrix-test.ts';

t.test('one client of each kind does every case of docs/clients.md', async (t) => {
  await doesEveryCase(t, (client) => ['curl --http1.1', 'ws', 'eventsource'].includes(client));
});
