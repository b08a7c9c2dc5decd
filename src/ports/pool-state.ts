/** Use of the connections to the store. */
export interface PoolState {
  /** Connections with a statement on them. */
  readonly inUse: number;
  /** Most connections. */
  readonly most: number;
  /** Statements that wait for a connection. */
  readonly waiting: number;
}
