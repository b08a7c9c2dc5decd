import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { Scope } from '../../../support/servers.ts';
import type { Client } from '../options.ts';
import { valuesOf } from '../strict-head.ts';
import { readResponse, readRequests, type StrictRequest } from '../strict.ts';
import { asTakenBy } from './leniency.ts';
import { anyToken, token, type ResponsePlan } from './plan.ts';

/** A request that is on its way, and what its upstream will do about it. */
export interface Exchange {
  readonly token: string;
  readonly plan: ResponsePlan;
  /** What the gateway does about a response that does not come: the one gives up soon, the other does not. */
  readonly route: '/hurried' | '/patient';
  /** The request offers to go on as a WebSocket. */
  readonly offers?: boolean;
  /** Times it came to the upstream otherwise. */
  arrivals: number;
  /** It came on a connection that its upstream had just ended: nothing can be expected. */
  orphaned: boolean;
  /** Times it came on a connection that ends without a byte in response, and so comes again. */
  unanswered: number;
}

export interface PlannedUpstream {
  readonly url: string;
  readonly exchanges: Map<string, Exchange>;
  readonly connections: number;
}

/** A server that says exactly what it is told to, and notices when it is asked on a connection that is spoilt. */
export async function startPlannedUpstream(
  t: Scope,
  client: Client,
  onFault: (fault: string, exchange: Exchange | undefined) => void,
): Promise<PlannedUpstream> {
  const exchanges = new Map<string, Exchange>();
  const sockets = new Set<Socket>();
  const upstream = { url: '', exchanges, connections: 0 };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    upstream.connections += 1;
    sockets.add(socket);
    socket.on('error', ignore).on('close', () => sockets.delete(socket));
    new Connection(socket, client, exchanges, onFault);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return Object.assign(upstream, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

class Connection {
  readonly #socket: Socket;
  /** What the gateway asks with. */
  readonly #client: Client;
  readonly #exchanges: ReadonlyMap<string, Exchange>;
  readonly #onFault: (fault: string, exchange: Exchange | undefined) => void;
  #text = '';
  #respondedAtHead: string | undefined;
  /** What the upstream sent here last, once that has made the connection unfit for anything else. */
  #spoilt: { readonly why: string; readonly by: Exchange } | undefined;
  #ended = false;

  constructor(
    socket: Socket,
    client: Client,
    exchanges: ReadonlyMap<string, Exchange>,
    onFault: (fault: string, exchange: Exchange | undefined) => void,
  ) {
    this.#socket = socket;
    this.#client = client;
    this.#exchanges = exchanges;
    this.#onFault = onFault;
    socket.on('data', (chunk) => this.#read(chunk.toString('latin1'))).on('end', () => socket.end());
  }

  #read(bytes: string): void {
    this.#text += bytes;
    const { requests, rest, unfinished, end } = readRequests(this.#text);
    this.#text = this.#text.slice(end);
    for (const request of requests) this.#take(request, true);
    if (unfinished !== undefined && rest === 'partial') this.#take(unfinished, false);
    // Behind a handshake nothing may come without consent, which no response here gives.
    if (rest === 'malformed' || (rest === 'opaque' && this.#text !== '')) {
      this.#onFault(
        `the upstream was sent what is no request: ${JSON.stringify(this.#text.slice(0, 300))}`,
        undefined,
      );
      this.#socket.destroy();
    }
  }

  #take(request: StrictRequest, whole: boolean): void {
    const name = anyTokenOf(request.target);
    const exchange = this.#exchanges.get(name);
    if (this.#respondedAtHead === name) {
      if (whole) this.#respondedAtHead = undefined;
      return;
    }
    if (exchange === undefined) return;
    if (!whole && exchange.plan.when === 'whole') return;
    const comesAgain = this.#mayRepeat(request) && (this.#ended || exchange.plan.bytes === '');
    if (comesAgain) exchange.unanswered += 1;
    else exchange.arrivals += 1;
    // The two may be read here in either order.
    if (exchange.arrivals + exchange.unanswered > (exchange.unanswered > 0 ? 2 : 1))
      this.#onFault('a request was sent twice', exchange);
    if (this.#spoilt !== undefined) {
      const { why, by } = this.#spoilt;
      this.#onFault(`a request came on a connection on which ${why} (${by.token})`, by);
    }
    if (this.#ended) {
      exchange.orphaned = !comesAgain;
      this.#socket.destroy();
      return;
    }
    if (!whole) this.#respondedAtHead = name;
    this.#respond(exchange, valuesOf(request.fields, 'connection').includes('close'));
  }

  /** Whether the gateway sends a request once more that it had no byte in response to. */
  #mayRepeat({ method, fields }: StrictRequest): boolean {
    const hasBody =
      [...valuesOf(fields, 'content-length'), ...valuesOf(fields, 'transfer-encoding')].length > 0;
    return this.#client === 'native' && ['GET', 'HEAD', 'OPTIONS'].includes(method) && !hasBody;
  }

  #respond(exchange: Exchange, last: boolean): void {
    const { plan } = exchange;
    const why = last ? undefined : spoils(this.#client, plan);
    if (why !== undefined) this.#spoilt = { why, by: exchange };
    this.#ended = plan.after !== 'keep';
    const bytes = plan.bytes.replaceAll(token, exchange.token);
    const cuts = [0, ...plan.splits.filter((at) => at < bytes.length), bytes.length];
    const send = (index: number): void => {
      if (this.#socket.destroyed) return;
      const piece = Buffer.from(bytes.slice(cuts[index], cuts[index + 1]), 'latin1');
      const done = index + 2 >= cuts.length;
      if (!done) {
        this.#socket.write(piece);
        setTimeout(() => send(index + 1), 1);
      } else if (plan.after === 'keep') this.#socket.write(piece);
      else if (plan.after === 'close') this.#socket.end(piece);
      else this.#socket.write(piece, () => this.#socket.resetAndDestroy());
    };
    send(0);
  }
}

/** Why nothing may come on a connection any more, after this was said on it. */
function spoils(client: Client, { bytes: said, method }: ResponsePlan): string | undefined {
  const bytes = asTakenBy(client, said);
  const { state, end, fields } = readResponse(bytes, method);
  if (state === 'malformed') return 'the response broke the protocol';
  if (state === 'partial') return 'the response never ended';
  if (state === 'until-close') return 'the response had no length';
  // Empty lines are skipped before a response, which does no harm.
  if (/[^\r\n]/.test(bytes.slice(end))) return 'more was said than the response';
  const named = valuesOf(fields, 'connection').join(',').toLowerCase().split(',');
  if (named.some((each) => each.trim() === 'close')) return 'the response was said to be the last';
  return undefined;
}

function anyTokenOf(target: string): string {
  return target.match(anyToken)?.[0] ?? '';
}

function ignore(): void {
  /* The client's side tells what became of it. */
}
