import type { Socket } from 'node:net';
import { guardedOn } from '../http/guarded.ts';
import { networkOf } from '../http/trusted-proxies.ts';
import type { ReceivedHead } from '../ports/request-record.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Served } from './served.ts';

interface Place {
  /** TCP socket, also with TLS. */
  readonly socket: Socket;
  network: Network;
  /** `null` during the TLS handshake. */
  connection: ClientConnection | null;
}

/** Connections of one client network. */
interface Network {
  readonly name: string;
  /** In the order in which they were entered. */
  readonly places: Set<Place>;
  /** What newcomers have seen since the latest check; `null` if none has looked. */
  seen: Seen | null;
}

/** Progress of the looks at a network's connections. */
interface Seen {
  /** The rest of the round; the next round follows. */
  rest: Iterator<Place, undefined>;
  /** Whether all have been looked at once. */
  isAll: boolean;
  /** Those with a stranger's request, the youngest last. */
  readonly strangers: Place[];
}

/** Connection closed for want of room: one without a request, one with a stranger's, or the newcomer itself. */
export type ClosedForRoom = 'idle' | 'stranger' | 'newcomer';

/** Fraction of all places that is kept for networks with few connections. */
const keptPart = 1 / 8;
/** Fraction of all places from which on it matters whom trusted proxies serve. */
const usualPart = 3 / 4;
/**
 * Maximum number of a network's connections to look at for a newcomer, beside those of other networks that no newcomer
 * has made the listener look at since the latest check.
 */
const mostLooks = 32;

/**
 * Divides a listener's connections among client networks. A network may take one of the last eighth only if it holds at
 * most as many as are left. Otherwise the network that has most gives up its oldest connection without a request, or
 * else its youngest request of a stranger. Streams, WebSockets and requests of known callers are never given up. If
 * there is nothing to give up, the newcomer is closed.
 */
export class ConnectionPlaces {
  readonly #served: Served;
  readonly #noteClosed: (what: ClosedForRoom) => void;
  readonly #places = new Map<Socket, Place>();
  readonly #networks = new Map<string, Network>();
  /** By their number of connections: networks that may have one to give up, as far as newcomers have seen. */
  readonly #bySize: Set<Network>[] = [];

  /** @param noteClosed called for each connection that is closed for want of room */
  constructor(served: Served, noteClosed: (what: ClosedForRoom) => void) {
    this.#served = served;
    this.#noteClosed = noteClosed;
  }

  /** Takes a place for a new connection, and closes this or another connection if there is no room. */
  enter(socket: Socket): void {
    const network = this.#networkOf({ rawHeaders: [], socket });
    const place: Place = { socket, network, connection: null };
    this.#places.set(socket, place);
    this.#resize(network, (places) => places.add(place));
    socket.once(
      'close',
      guardedOn(socket, () => this.#leave(place)),
    );
    const most = this.#served.limits.maxConnections;
    const free = most - this.#places.size;
    if (free < Math.floor(most * keptPart) && network.places.size > free + 1) this.#makeRoom(place);
  }

  /** Notes what serves a connection. @param socket TCP socket; `null` if it is unknown */
  serve(socket: Socket | null, connection: ClientConnection): void {
    const place = socket === null ? undefined : this.#places.get(socket);
    if (place !== undefined) place.connection = connection;
  }

  /** Counts connections from trusted proxies as those of the clients that they serve now. Call this at intervals. */
  check(): void {
    for (const network of this.#networks.values()) {
      network.seen = null;
      this.#resize(network, () => undefined);
    }
    if (this.#places.size < this.#served.limits.maxConnections * usualPart) return;
    for (const place of this.#places.values()) {
      const { socket, connection, network } = place;
      const now = this.#networkOf(connection?.latest ?? { rawHeaders: [], socket });
      if (now === network) continue;
      this.#resize(network, (places) => places.delete(place));
      place.network = now;
      this.#resize(place.network, (places) => places.add(place));
    }
  }

  #networkOf(head: ReceivedHead): Network {
    const name = networkOf(this.#served.application.addressOf(head));
    let network = this.#networks.get(name);
    if (network === undefined) this.#networks.set(name, (network = { name, places: new Set(), seen: null }));
    return network;
  }

  #resize(network: Network, change: (places: Set<Place>) => void): void {
    const { name, places, seen } = network;
    this.#bySize[places.size]?.delete(network);
    change(places);
    if (places.size === 0) this.#networks.delete(name);
    else if (seen?.isAll !== true || seen.strangers.length > 0)
      (this.#bySize[places.size] ??= new Set()).add(network);
  }

  #leave(place: Place): void {
    if (this.#places.delete(place.socket)) this.#resize(place.network, (places) => places.delete(place));
  }

  #makeRoom(newcomer: Place): void {
    const sizes = this.#bySize;
    while (sizes.length > 0 && !sizes.at(-1)?.size) sizes.pop();
    const own = newcomer.network;
    for (let size = sizes.length - 1; size >= own.places.size; size -= 1)
      for (const network of sizes[size] ?? []) {
        // Its own network is the last of its size, but for those that have been looked at in vain.
        if (network === own || (size === own.places.size && network.seen?.isAll)) break;
        const given = this.#givenUp(network, newcomer);
        if (given !== undefined) return this.#close(given);
        this.#resize(network, () => undefined);
      }
    const given = this.#givenUp(own, newcomer);
    if (given !== undefined) return this.#close(given);
    this.#close(newcomer, 'newcomer');
  }

  /** Returns the connection that a network gives up for a newcomer; `undefined` if it has none. */
  #givenUp(network: Network, newcomer: Place): Place | undefined {
    const { places } = network;
    const isOwn = network === newcomer.network;
    const seen = (network.seen ??= { rest: places.values(), isAll: false, strangers: [] });
    let looks = mostLooks;
    while (!(isOwn || seen.isAll) || looks-- > 0) {
      const place = seen.rest.next().value;
      if (place === undefined) {
        seen.rest = places.values();
        seen.isAll = true;
        continue;
      }
      const use = place.connection?.use ?? 'none';
      if (use === 'none' && place !== newcomer) return place;
      if (use === 'stranger' && !seen.isAll) seen.strangers.push(place);
    }
    if (isOwn) return undefined;
    for (let place; (place = seen.strangers.at(-1)) !== undefined; seen.strangers.pop())
      if (places.has(place) && place.connection?.use !== 'kept')
        return places.size > newcomer.network.places.size ? place : undefined;
    return undefined;
  }

  #close(
    place: Place,
    what: ClosedForRoom = place.connection?.use === 'stranger' ? 'stranger' : 'idle',
  ): void {
    this.#noteClosed(what);
    this.#leave(place);
    (place.connection?.socket ?? place.socket).destroy();
  }
}
