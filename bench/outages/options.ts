/** What the command line asks for; zero leaves it to the scenario. */
export interface Options {
  /** Requests a second. */
  readonly rate: number;
  /** Length of one phase. */
  readonly seconds: number;
  /** Made-up keys in all; there are as many rounds as that takes. */
  readonly garbage: number;
}
