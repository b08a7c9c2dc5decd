import { once } from 'node:events';
import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';

/** Ports that the system gives to no outgoing connection: one of those could take the port before the test does. */
const [from, to] = [16_000, 32_000];

/** A loopback TCP port that no process listens on right now. */
export async function unusedPort(): Promise<number> {
  for (;;) {
    const port = randomInt(from, to);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
