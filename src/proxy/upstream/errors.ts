/** An upstream's answer cannot be read, or not in one way only. For the log; clients are told that it failed. */
export class AnswerFault extends Error {
  /** @param what was found, without anything of the answer itself */
  constructor(what: string) {
    super(`the upstream's answer has ${what}`);
    this.name = 'AnswerFault';
  }
}
