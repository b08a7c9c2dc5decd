/** Look-ups of host names as the gateway makes them, and a name server whose answers a test decides. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { systemClock } from '../../src/ports/clock.ts';
import { systemTimers } from '../../src/ports/timers.ts';
import { Names, type Lookup } from '../../src/proxy/upstream/names.ts';
import { resolver } from '../../src/proxy/upstream/resolver.ts';
import type { Scope } from './servers.ts';

/** Looks names up by the hosts file and name servers of this machine, or by the given ones. */
export function lookupWith(resolve = resolver(systemTimers)): Lookup {
  const report = (error: unknown): void => {
    throw error;
  };
  return new Names({ resolve, clock: systemClock, observe: () => undefined, report }).lookup;
}

/** What a name server says: addresses, that there is no such name, that it cannot tell; `null`: nothing at all. */
export type Said =
  { readonly addresses: readonly string[]; readonly ttlS: number } | 'none' | 'failed' | null;

export interface NameServer {
  /** Its address and port. */
  readonly address: string;
  /** The questions that it got, as `A name`. */
  readonly asked: string[];
}

const codes = { none: 3, failed: 2 };

/** Starts a name server on loopback that ends with the test. */
export async function nameServer(
  t: Scope,
  say: (question: string) => Said | Promise<Said>,
  { host = '127.0.0.1', port = 0 } = {},
): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
      labels.push(message.toString('latin1', at + 1, at + 1 + length).toLowerCase());
      at += length + 1;
    }
    const isIpv6 = message.readUInt16BE(at + 1) === 28;
    const question = `${isIpv6 ? 'AAAA' : 'A'} ${labels.join('.')}`;
    asked.push(question);
    void Promise.resolve(say(question)).then((said) => {
      if (said === null) return;
      const records =
        typeof said === 'string' ? [] : said.addresses.filter((each) => isIPv6(each) === isIpv6);
      const head = Buffer.alloc(12);
      message.copy(head, 0, 0, 2);
      head.writeUInt16BE(0x8180 + (typeof said === 'string' ? codes[said] : 0), 2);
      head.writeUInt16BE(1, 4);
      head.writeUInt16BE(records.length, 6);
      const answers = records.map((each) => recordOf(each, typeof said === 'string' ? 0 : said.ttlS));
      socket.send(Buffer.concat([head, message.subarray(12, at + 5), ...answers]), from.port, from.address);
    });
  });
  socket.bind(port, host);
  await once(socket, 'listening');
  t.teardown(() => void socket.close());
  return { address: `${host}:${socket.address().port}`, asked };
}

/** A record of the name that was asked for (RFC 1035 §4.1.3). IPv6 addresses are written in full. */
function recordOf(address: string, ttlS: number): Buffer {
  const data = isIPv6(address)
    ? Buffer.from(
        address
          .split(':')
          .map((group) => group.padStart(4, '0'))
          .join(''),
        'hex',
      )
    : Buffer.from(address.split('.').map(Number));
  const fixed = Buffer.alloc(12);
  fixed.writeUInt16BE(0xc00c, 0);
  fixed.writeUInt16BE(isIPv6(address) ? 28 : 1, 2);
  fixed.writeUInt16BE(1, 4);
  fixed.writeUInt32BE(ttlS, 6);
  fixed.writeUInt16BE(data.length, 10);
  return Buffer.concat([fixed, data]);
}
