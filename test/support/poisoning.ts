/** An upstream that one tenant has made send bytes behind its responses, and tenants that ask it. */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Holder, MemoryDirectory } from './memory-directory.ts';
import { rawRequest, requestText } from './raw-client.ts';
import type { Scope } from './servers.ts';
import { startTcpUpstream } from './upstreams.ts';

/** Requests whose responses the upstream follows with bytes that belong to no response, in a packet of their own. */
const poisons = ['HEAD /', 'GET /204', 'GET /304', 'GET /surplus', 'OPTIONS /surplus'] as const;

/** What came of many requests. */
export interface Poisoning {
  /** Responses by whose bytes they were made of: those asked for, those left by an earlier request, problems. */
  own: number;
  /** The same tenant's, left by an earlier request of its own: there is no promise against these. */
  ownStray: number;
  /** Another tenant's. */
  foreign: number;
  /** Neither came: the connection was closed in time, or just too late. */
  failed: number;
}

/** Starts the upstream. What it sends too much says whose request it stood behind. */
export async function startPoisonedUpstream(
  t: Scope,
): Promise<{ readonly url: string; connections: number }> {
  return startTcpUpstream(t, (socket, head) => {
    const [method = '', target = ''] = head.split(' ');
    const tenant = /^x-service-resolved-tenant: (.*)$/im.exec(head)?.[1]?.trim() ?? 'none';
    // In every head as well: what is taken for a body may begin anywhere.
    const ok = `HTTP/1.1 200 ${tenant}\r\n`;
    const body = `for ${tenant}`;
    const length = `Content-Length: ${body.length}\r\n`;
    const stray = `${ok}Content-Length: ${tenant.length + 6}\r\n\r\nstray ${tenant}`;
    if (method === 'HEAD') return later(socket, `${ok}${length}\r\n`, stray);
    if (target === '/204') return later(socket, `HTTP/1.1 204 ${tenant}\r\n\r\n`, stray);
    if (target === '/304') return later(socket, `HTTP/1.1 304 ${tenant}\r\n${length}\r\n`, stray);
    const response = `${ok}${length}\r\n${body}`;
    if (target === '/surplus') return later(socket, response, stray);
    socket.write(response);
  });
}

/** The response, and a moment later what nobody asked for: after the gateway has put the connection by, with luck. */
function later(socket: Socket, response: string, stray: string): void {
  socket.write(response);
  setTimeout(() => socket.destroyed || socket.write(stray), Math.random() * 3);
}

/** Has every tenant poison and ask in turn, `atOnce` of each at a time, until `until` says that it is enough. */
export async function poisonFor(
  t: Scope,
  port: number,
  tenants: readonly Holder[],
  enough: (sofar: Poisoning) => boolean,
  atOnce = 2,
): Promise<Poisoning> {
  const tally: Poisoning = { own: 0, ownStray: 0, foreign: 0, failed: 0 };
  const one = async ({ key, id }: Holder): Promise<void> => {
    for (let i = 0; !enough(tally); i++) {
      const poison = poisons[i % poisons.length] ?? '';
      await ask(poison, key);
      const body = await ask('GET /', key);
      if (body === `for ${id}`) tally.own += 1;
      else if (body === undefined) tally.failed += 1;
      else if (body.includes(id.slice(0, 8))) tally.ownStray += 1;
      else tally.foreign += 1;
      if (i % 7 === 0) await sleep(1);
    }
  };
  const ask = async (what: string, key: string): Promise<string | undefined> => {
    const [method = '', target = ''] = what.split(' ');
    const text = requestText(method, target, [['Authorization', `Bearer ${key}`]], '');
    const response = await rawRequest(t, port, text).catch(() => undefined);
    return response?.status === 200 ? response.body : undefined;
  };
  await Promise.all(tenants.flatMap((tenant) => Array.from({ length: atOnce }, () => one(tenant))));
  return tally;
}

/** Parents, each a tenant of its own, and a sub-account of the first, which is one as well. */
export function fourTenants(directory: MemoryDirectory, parent: Holder): readonly Holder[] {
  return [parent, directory.addSubAccount(parent), directory.addParent(), directory.addParent()];
}
