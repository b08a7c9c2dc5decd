/** What a hostile upstream does about one request. */
export interface ResponsePlan {
  readonly name: string;
  readonly method: string;
  readonly requestBody: RequestBody;
  /** What it sends; {@link token} stands for a word that is this exchange's alone. */
  readonly bytes: string;
  /** Where it pauses for a moment while it sends. */
  readonly splits: readonly number[];
  /** What it does to the connection afterwards. */
  readonly after: After;
  /** It responds as soon as it has seen the head, or politely once it has the body too. */
  readonly when: When;
}

const requestBodies = ['none', 'short', 'long', 'chunked'] as const;
export type RequestBody = (typeof requestBodies)[number];
const afters = ['keep', 'close', 'reset'] as const;
export type After = (typeof afters)[number];
const whens = ['whole', 'head'] as const;
export type When = (typeof whens)[number];

/** As long as any token, so that putting one in its place moves nothing. */
export const token = '=TOKEN_=';
export const anyToken = /=[0-9a-z]{6}=/g;

export function tokenOf(number: number): string {
  return `=${number.toString(36).padStart(6, '0')}=`;
}

/** @throws Error where the notes are not those of a plan */
export function planFrom(name: string, notes: readonly string[], bytes: string): ResponsePlan {
  const [method = 'GET', requestBody = 'none', when = 'whole', after = 'keep'] = notes
    .join(' ')
    .split(' ')
    .filter(Boolean);
  return {
    name,
    method,
    requestBody: oneOf(requestBodies, requestBody),
    bytes,
    splits: [],
    after: oneOf(afters, after),
    when: oneOf(whens, when),
  };
}

function oneOf<T extends string>(known: readonly T[], word: string): T {
  const found = known.find((each) => each === word);
  if (found === undefined) throw new Error(`${word} is none of ${known.join(', ')}`);
  return found;
}
