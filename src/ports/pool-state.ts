/** Use of the connections to the store. */
export interface PoolState {
  /** Number of connections that are executing a statement. */
  readonly inUse: number;
  /** Maximum number of connections. */
  readonly most: number;
  /** Number of statements that wait for a connection. */
  readonly waiting: number;
}
