// class: pure
import { createServer } from 'node:http';
import t from 'tap';
import { Intake } from '../../src/server/intake.ts';

t.test('a worker refuses what the cluster offers, or accepts all of it', async (t) => {
  const server = createServer();
  const intake = new Intake(false);
  intake.control(server);
  t.equal(server.maxConnections, -1, 'Node hands on what comes while there are this many or more');
  intake.taking = true;
  t.equal(server.maxConnections, undefined);
});
