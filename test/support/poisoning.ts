/** An upstream that one tenant has made send bytes behind its responses, and tenants that ask it. */
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBeside } from './gateway.ts';
import type { Holder, MemoryDirectory } from './memory-directory.ts';
import { rawRequest, requestText } from './raw-client.ts';
import type { Scope } from './servers.ts';
import { startTcpUpstream } from './upstreams.ts';
import { Random, seedOfRun } from './coherence/random.ts';

const drawn = new Random(seedOfRun);

/** Requests whose responses the upstream follows with bytes that belong to no response, in a packet of their own. */
const poisons = ['HEAD /', 'GET /204', 'GET /304', 'GET /surplus', 'OPTIONS /surplus'] as const;

/** What came of many requests. */
export interface Poisoning {
  /** Responses by whose bytes they were made of: those asked for, those left by an earlier request, problems. */
  own: number;
  /** The same tenant's and caller's, left by an earlier request of theirs: there is no promise against these. */
  ownStray: number;
  /** Another tenant's, or the same one's for another caller. */
  foreign: number;
  /** Neither came: the connection was closed in time, or just too late. */
  failed: number;
}

/** Starts the upstream. What it sends too much says whose request it stood behind. */
export async function startPoisonedUpstream(
  t: Scope,
): Promise<{ readonly url: string; connections: number }> {
  return startTcpUpstream(t, (socket, head) => {
    const [method = '', asked = ''] = head.split(' ');
    const target = asked.replace(openBeside, '');
    const said = (name: string): string =>
      new RegExp(`^x-service-${name}-tenant: (.*)$`, 'im').exec(head)?.[1]?.trim() ?? 'none';
    // Four times, so that a part of it that is cut off still says whose it is.
    const tenant = Array.from({ length: 4 }, () => nameOf(said('resolved'), said('caller'))).join('-');
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

/** A short name for a tenant and who calls as it. */
function nameOf(resolved: string, caller: string): string {
  return createHash('sha256').update(`${resolved} ${caller}`).digest('hex').slice(0, 8);
}

/** The response, and a moment later what nobody asked for: after the gateway has put the connection by, with luck. */
function later(socket: Socket, response: string, stray: string): void {
  socket.write(response);
  setTimeout(() => socket.destroyed || socket.write(stray), drawn.next() * 3);
}

/** Who asks: by whose key, and as which account. */
export interface Asker {
  /** `null` for a client without a key, who asks the open route. */
  readonly holder: Holder | null;
  /** A sub-account of the holder; the holder itself by default. */
  readonly as?: Holder;
}

/** Has every asker poison and ask in turn, `atOnce` of each at a time, until `enough` says that it is enough. */
export async function poisonFor(
  t: Scope,
  port: number,
  askers: readonly Asker[],
  enough: (sofar: Poisoning) => boolean,
  atOnce = 2,
): Promise<Poisoning> {
  const tally: Poisoning = { own: 0, ownStray: 0, foreign: 0, failed: 0 };
  const one = async (asker: Asker): Promise<void> => {
    const whose = nameOf((asker.as ?? asker.holder)?.id ?? 'none', asker.holder?.id ?? 'none');
    for (let i = 0; !enough(tally); i++) {
      const poison = poisons[i % poisons.length] ?? '';
      await ask(poison, asker);
      const body = await ask('GET /', asker);
      if (body?.startsWith(`for ${whose}-`)) tally.own += 1;
      else if (body === undefined) tally.failed += 1;
      else if (body.includes(whose)) tally.ownStray += 1;
      else tally.foreign += 1;
      if (i % 7 === 0) await sleep(1);
    }
  };
  const ask = async (what: string, { holder, as }: Asker): Promise<string | undefined> => {
    const [method = '', path = ''] = what.split(' ');
    const target = holder === null ? `${openBeside}${path}` : path;
    const headers: [string, string][] = holder === null ? [] : [['Authorization', `Bearer ${holder.key}`]];
    if (as !== undefined) headers.push(['X-Service-Acting-Tenant', as.id]);
    const text = requestText(method, target, headers, '');
    const response = await rawRequest(t, port, text).catch(() => undefined);
    return response?.status === 200 ? response.body : undefined;
  };
  await Promise.all(askers.flatMap((asker) => Array.from({ length: atOnce }, () => one(asker))));
  return tally;
}

/**
 * Parents, each a tenant of its own, a sub-account of the first, which is one as well, and that first parent acting as
 * its sub-account: another caller of the same tenant. Clients without a key ask the open route beside.
 */
export function fourTenants(directory: MemoryDirectory, parent: Holder): readonly Asker[] {
  const child = directory.addSubAccount(parent);
  const own = [parent, child, directory.addParent(), directory.addParent()].map((holder) => ({ holder }));
  return [...own, { holder: parent, as: child }, { holder: null }];
}
