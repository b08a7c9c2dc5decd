/** How busy the connections to the store are. */
export interface PoolState {
  /** Number of connections that are executing a statement. */
  readonly inUse: number;
  /** Maximum number of connections. */
  readonly most: number;
  /** Number of statements waiting for a connection. */
  readonly waiting: number;
}
