/** How busy the connections to the store are. */
export interface PoolState {
  /** Connections with a statement on them. */
  readonly inUse: number;
  /** Connections there may be. */
  readonly most: number;
  /** Statements that wait for one. */
  readonly waiting: number;
}
