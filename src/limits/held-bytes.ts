import type { HoldsFor } from '../http/client-request.ts';
import { fairShare } from './shedding-order.ts';

/** A client's connection, and what the process holds in memory for it. */
export interface HeldConnection {
  /** Bytes that it counts with. Only {@link HeldBytes} writes these two. */
  counted: number;
  countsAsStranger: boolean;
  /** Holder of the bytes; `null` for a stranger. */
  readonly holdsFor: HoldsFor | null;
  /** Network of the client, as returned by `networkOf`. */
  readonly network: string;
  /** Ends the connection at once, so that nothing is held for it any longer. */
  cut(): void;
}

/** Kinds of holders, as metrics name them. */
export type HolderKind = 'callers' | 'strangers';

/** Part of the budget that strangers may have together. */
const ofStrangers = 1 / 4;
/** Connections are cut once this many times a budget are held: each search frees enough, and a turn cuts few. */
const slack = 17 / 16;

/**
 * The budget for bytes that wait in memory for clients, or came from clients and wait for something else. All listeners
 * share it.
 *
 * Code that holds bytes counts them and asks for nothing. Once more than the budget is held, it is shared: each parent with its
 * sub-accounts, and each network of strangers, gets an equal share (max-min fairness; see `fairShare`). Strangers
 * together get at most {@link ofStrangers}. Connections of those that hold more than their share are cut, beginning
 * with the largest, until the rest fits. A parent or network that holds at most its share loses nothing.
 */
export class HeldBytes {
  /** Bytes held in all for callers and for strangers. */
  readonly held = { callers: 0, strangers: 0 };
  readonly #most: number;
  readonly #noteCut: (kind: HolderKind) => void;
  readonly #listeners: Iterable<HeldConnection>[] = [];
  #isSharing = false;

  /**
   * @param most the budget in bytes
   * @param noteCut called for each connection that is cut
   */
  constructor(most: number, noteCut: (kind: HolderKind) => void = () => undefined) {
    this.#most = most;
    this.#noteCut = noteCut;
  }

  /** Adds a listener, and returns `connections`. @param connections the listener's open connections, which may change */
  add<Connections extends Iterable<HeldConnection>>(connections: Connections): Connections {
    this.#listeners.push(connections);
    return connections;
  }

  /** Counts a connection anew. @param bytes number of bytes held for it now */
  count(connection: HeldConnection, bytes: number): void {
    this.held[kindOf(connection)] -= connection.counted;
    connection.counted = bytes;
    connection.countsAsStranger = connection.holdsFor === null;
    this.held[kindOf(connection)] += bytes;
    const { callers, strangers } = this.held;
    const most = slack * this.#most;
    if (bytes > 0 && (callers + strangers > most || strangers > most * ofStrangers)) this.#share();
  }

  #share(): void {
    if (this.#isSharing) return;
    this.#isSharing = true;
    const callers = new Map<string, Account>();
    const strangers = new Map<string, Account>();
    for (const listener of this.#listeners)
      for (const connection of listener) {
        const { counted, countsAsStranger, holdsFor, network } = connection;
        if (counted === 0) continue;
        const accounts = countsAsStranger ? strangers : callers;
        const who = countsAsStranger ? network : (holdsFor ?? network);
        let account = accounts.get(who);
        if (account === undefined) accounts.set(who, (account = { held: 0, connections: [] }));
        account.held += counted;
        account.connections.push(connection);
      }
    this.#fit([...strangers.values()], this.#most * ofStrangers);
    this.#fit([...strangers.values(), ...callers.values()], this.#most);
    this.#isSharing = false;
  }

  /** Cuts connections until what the accounts hold fits. */
  #fit(accounts: readonly Account[], most: number): void {
    const share = fairShare(
      accounts.map(({ held }) => held),
      most,
    );
    let excess = accounts.reduce((sum, { held }) => sum + held, -most);
    for (const account of accounts.filter(({ held }) => held > share).sort((a, b) => b.held - a.held)) {
      account.connections.sort((a, b) => b.counted - a.counted);
      for (const connection of account.connections) {
        if (excess <= 0 || account.held <= share) break;
        const { counted } = connection;
        if (counted === 0) continue;
        account.held -= counted;
        excess -= counted;
        this.#noteCut(kindOf(connection));
        connection.cut();
        this.count(connection, 0);
      }
    }
  }
}

function kindOf({ countsAsStranger }: HeldConnection): HolderKind {
  return countsAsStranger ? 'strangers' : 'callers';
}

/** All connections of one parent, or of one network of strangers. */
interface Account {
  held: number;
  readonly connections: HeldConnection[];
}
