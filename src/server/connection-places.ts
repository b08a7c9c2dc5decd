import type { Socket } from 'node:net';
import { guardedOn } from '../http/guarded.ts';
import { networkOf, type ClientAddress } from '../http/trusted-proxies.ts';
import type { ClientConnection } from './client-connection.ts';

interface Place {
  /** TCP socket, also with TLS. */
  readonly socket: Socket;
  /** Grows from one connection to the next. */
  readonly number: number;
  network: Network;
  /** `null` during the TLS handshake. */
  connection: ClientConnection | null;
}

/** Connections of one client network. */
interface Network {
  readonly name: string;
  /** Oldest first; but those that were in use when another connection needed their place come last. */
  readonly places: Set<Place>;
  /** Whether it had none to give up when it was last looked at. Forgotten by the next check. */
  isBarren: boolean;
}

/** Fraction of all places that is kept for networks with few connections. */
const keptPart = 1 / 8;
/** Fraction of all places from which on it matters whom trusted proxies serve. */
const usualPart = 3 / 4;
/** Maximum number of a network's connections to look at for a newcomer of the same network. */
const mostOwnLooks = 32;

/**
 * Divides a listener's connections among client networks. A network may take one of the last eighth only if it holds at
 * most as many as are left. Otherwise the network that has most gives up its oldest connection without a request, or
 * else its youngest request of a stranger. Streams, WebSockets and requests of known callers are never given up. If
 * there is nothing to give up, the newcomer is closed.
 */
export class ConnectionPlaces {
  /** Maximum number of open connections. A reload may change it. */
  most: number;
  readonly #addressOf: ClientAddress;
  readonly #places = new Map<Socket, Place>();
  readonly #networks = new Map<string, Network>();
  /** Networks that are not barren, by their number of connections. */
  readonly #bySize: Set<Network>[] = [];
  #next = 0;

  constructor(most: number, addressOf: ClientAddress) {
    this.most = most;
    this.#addressOf = addressOf;
  }

  /** Takes a place for a new connection, and closes this or another connection if there is no room. */
  enter(socket: Socket): void {
    const network = this.#network(networkOf(this.#addressOf({ rawHeaders: [], socket })));
    const place: Place = { socket, number: (this.#next += 1), network, connection: null };
    this.#places.set(socket, place);
    this.#resize(network, (places) => places.add(place));
    const left = (): void => this.#leave(place);
    socket.once('close', guardedOn(socket, left));
    const free = this.most - this.#places.size;
    if (free < Math.floor(this.most * keptPart) && network.places.size > free + 1) this.#makeRoom(place);
  }

  /** Notes what serves a connection. @param socket TCP socket; `null` if it is unknown */
  serve(socket: Socket | null, connection: ClientConnection): void {
    const place = socket === null ? undefined : this.#places.get(socket);
    if (place !== undefined) place.connection = connection;
  }

  /** Counts connections from trusted proxies as those of the clients that they serve now. Call this at intervals. */
  check(): void {
    for (const network of this.#networks.values()) {
      network.isBarren = false;
      this.#resize(network, () => undefined);
    }
    if (this.#places.size < this.most * usualPart) return;
    for (const place of this.#places.values()) {
      const { socket, connection, network } = place;
      const name = networkOf(this.#addressOf(connection?.latest ?? { rawHeaders: [], socket }));
      if (name === network.name) continue;
      this.#resize(network, (places) => places.delete(place));
      place.network = this.#network(name);
      this.#resize(place.network, (places) => places.add(place));
    }
  }

  #network(name: string): Network {
    let network = this.#networks.get(name);
    if (network === undefined)
      this.#networks.set(name, (network = { name, places: new Set(), isBarren: false }));
    return network;
  }

  #resize(network: Network, change: (places: Set<Place>) => void): void {
    const { name, places, isBarren } = network;
    this.#bySize[places.size]?.delete(network);
    change(places);
    if (places.size === 0) this.#networks.delete(name);
    else if (!isBarren) (this.#bySize[places.size] ??= new Set()).add(network);
  }

  #leave(place: Place): void {
    if (this.#places.delete(place.socket)) this.#resize(place.network, (places) => places.delete(place));
  }

  #makeRoom(newcomer: Place): void {
    const sizes = this.#bySize;
    while (sizes.length > 0 && !sizes.at(-1)?.size) sizes.pop();
    for (let size = sizes.length - 1; size >= newcomer.network.places.size; size -= 1)
      for (const network of sizes[size] ?? []) {
        const given = this.#givenUp(network, newcomer);
        if (given !== undefined) return this.#close(given);
      }
    this.#close(newcomer);
  }

  /** Returns the connection that a network gives up for a newcomer; `undefined` if it has none. */
  #givenUp(network: Network, newcomer: Place): Place | undefined {
    const { places } = network;
    const isOwn = network === newcomer.network;
    let looks = isOwn ? mostOwnLooks : places.size;
    let youngest: Place | undefined;
    for (const place of places) {
      if (looks-- === 0) break;
      const use = place.connection?.use ?? 'none';
      if (use === 'none' && place !== newcomer) return place;
      if (use === 'stranger' && place.number > (youngest?.number ?? 0)) youngest = place;
      // The next look begins behind those in use.
      places.delete(place);
      places.add(place);
    }
    if (isOwn) return newcomer;
    if (youngest !== undefined) return places.size > newcomer.network.places.size ? youngest : undefined;
    network.isBarren = true;
    this.#bySize[places.size]?.delete(network);
    return undefined;
  }

  #close(place: Place): void {
    this.#leave(place);
    (place.connection?.socket ?? place.socket).destroy();
  }
}
