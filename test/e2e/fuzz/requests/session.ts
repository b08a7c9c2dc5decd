import { valuesOf } from '../strict-head.ts';
import { readRequests, type StrictResponse, type StrictRequest } from '../strict.ts';
import type { World } from '../world.ts';
import { anyWord, filled, wordOf, type Kind, type RequestCase } from './case.ts';
import { speak, type Heard } from './client.ts';
import { identityOf, isOrdinary, kindOf, misreadings, tenantNamed } from './oracle.ts';
import type { Sighting } from './sighting.ts';

export interface Fault {
  readonly what: string;
  /** What caused it, where that is known. */
  readonly of: RequestCase | undefined;
  /** What the client got. */
  readonly heard: string;
}

export interface Outcome {
  readonly kind: Kind;
  /** `proxied …`, `rejected …`, `unclear`; one for each request that is whole. */
  readonly endings: readonly string[];
  readonly statuses: readonly number[];
}

/** A request on its way, and what an upstream made of it. */
interface Sent {
  readonly request: StrictRequest;
  readonly of: RequestCase;
  seen: Sighting | null;
}

/** For how long what was sent is still known after its responses, because it may come late to an upstream. */
const stillKnownMs = 10_000;

/** Sends cases to all upstreams at once and holds what they saw against what was sent. */
export class Session {
  readonly #world: World;
  readonly #kinds: readonly Kind[];
  readonly #outstanding = new Map<string, Sent[]>();
  readonly #cases = new Map<string, RequestCase>();
  #onFault: (fault: Fault) => void;
  #sightings = 0;
  #number = 0;

  constructor(world: World, kinds: readonly Kind[], onFault: (fault: Fault) => void) {
    this.#world = world;
    this.#kinds = kinds;
    this.#onFault = onFault;
  }

  /** Changes who is told of faults. Returns who was. */
  tell(onFault: (fault: Fault) => void): (fault: Fault) => void {
    const before = this.#onFault;
    this.#onFault = onFault;
    return before;
  }

  /** An upstream reports a request. Returns the id for its response. */
  witness(seen: Omit<Sighting, 'id'>): string {
    const sighting: Sighting = { ...seen, id: String(++this.#sightings) };
    if (sighting.target === '/started') return sighting.id;
    const waiting = this.#outstanding.get(keyOf(sighting)) ?? [];
    const unseen = waiting.filter(({ seen }) => seen === null);
    // Where the fuzzer has changed the word that tells requests apart, several are alike: it is the one that it fits.
    const sent =
      unseen.find((each) => this.#fits(each, sighting)) ??
      unseen.find(({ request }) => request.body === seen.body) ??
      unseen[0];
    if (sent === undefined) {
      const { kind, method, target, body } = sighting;
      const text = `${target} ${body} ${sighting.fields.join()}`;
      this.#fault(
        `${kind} was asked what no client sent: ${JSON.stringify(`${method} ${target}`.slice(0, 300))}`,
        this.#cases.get(anyWord.exec(text)?.[1] ?? ''),
      );
      return sighting.id;
    }
    sent.seen = sighting;
    const identity = identityOf(this.#world, sent.request);
    if (identity === null) this.#fault(`${sighting.kind} was asked what must be rejected`, sent.of);
    else
      for (const fault of misreadings(sent.request, identity, sighting))
        this.#fault(`${sighting.kind}: ${fault}`, sent.of);
    if (kindOf(sighting.target, this.#kinds) !== sighting.kind)
      this.#fault(`${sighting.target} came to ${sighting.kind}`, sent.of);
    return sighting.id;
  }

  #fits({ request }: Sent, sighting: Sighting): boolean {
    const identity = identityOf(this.#world, request);
    return identity !== null && misreadings(request, identity, sighting).length === 0;
  }

  /** Sends one case to every upstream. */
  async tryOut(one: RequestCase): Promise<Outcome[]> {
    const number = this.#number++;
    const words = this.#kinds.map((kind) => wordOf(number, kind));
    for (const word of words) this.#cases.set(word, one);
    const outcomes = await Promise.all(this.#kinds.map((kind) => this.#send(one, kind, number)));
    this.#compare(one, outcomes);
    setTimeout(() => words.forEach((word) => this.#cases.delete(word)), stillKnownMs).unref();
    return outcomes;
  }

  async #send(one: RequestCase, kind: Kind, number: number): Promise<Outcome> {
    const bytes = filled(one.bytes, kind, number);
    const strict = readRequests(bytes);
    const sent = strict.requests.map((request): Sent => ({ request, of: one, seen: null }));
    const keys = sent.map((each) => {
      const key = keyOf({ kind: kindOf(each.request.target, this.#kinds), ...each.request });
      const list = this.#outstanding.get(key);
      if (list === undefined) this.#outstanding.set(key, [each]);
      else list.push(each);
      return key;
    });
    const heard = await speak(this.#world.port, bytes, one.splits, strict);
    setTimeout(() => keys.forEach((key) => this.#outstanding.delete(key)), stillKnownMs).unref();
    const endings = sent.map((each, i) => this.#check(each, heard.responses[i], heard));
    const { responses, leftover, ended } = heard;
    const more = strict.rest === 'nothing' ? 0 : 1;
    const fault = (what: string): void => this.#fault(`${kind}: ${what}`, one, shown(heard));
    if (responses.length > sent.length + more)
      fault(`${responses.length} responses to ${sent.length} requests`);
    for (const extra of responses.slice(sent.length))
      if (valuesOf(extra.fields, 'x-seen').length > 0)
        fault('a response from an upstream to what is no request');
    const last = responses.at(-1);
    const said = last !== undefined && valuesOf(last.fields, 'connection').includes('close');
    // What is odd may end a connection on which another response is under way.
    const modest = sent.every(({ request }) => isOrdinary(request));
    if (
      modest &&
      responses.length < sent.length &&
      strict.rest === 'nothing' &&
      !said &&
      !leftover.startsWith('HTTP/1.1 101')
    )
      fault(ended ? 'the connection ended without a word' : 'a response did not come');
    // What was rejected before it was a request gets a response with a body, even to a HEAD.
    const unread = responses.length > sent.length && /HEAD /.test(one.bytes);
    const toHead = unread || sent[responses.length - 1]?.request.method === 'HEAD';
    if (said && leftover !== '' && !toHead) fault('something came after the last response');
    return { kind, endings, statuses: responses.map(({ status }) => status) };
  }

  #check({ request, of, seen }: Sent, response: StrictResponse | undefined, heard: Heard): string {
    if (response === undefined) return 'unclear';
    const fault = (what: string): void => this.#fault(what, of, shown(heard));
    const { status, fields, body } = response;
    const ids = valuesOf(fields, 'x-seen');
    const tenant = valuesOf(fields, 'x-service-resolved-tenant').join();
    if (ids.length > 0) {
      // Where the fuzzer has changed the word that tells requests apart, several are alike: any of them may have been seen.
      const alike =
        this.#outstanding.get(keyOf({ kind: kindOf(request.target, this.#kinds), ...request })) ?? [];
      if (seen?.id !== ids.join() && alike.every((each) => each.seen?.id !== ids.join()))
        fault('the response is to another request');
      if (tenant !== tenantNamed(this.#world, request)) fault(`the response names tenant ${tenant}`);
      return `proxied ${tenant} ${request.method}`;
    }
    const code = /"code":"(\w+)"/.exec(body)?.[1];
    const own = valuesOf(fields, 'content-type').join() === 'application/problem+json';
    // On a busy machine a lease may run out: then it must not decide.
    // Node's parser rejects a TAB behind a length.
    const hasTab = /^content-length:.*\t/im.test(of.bytes);
    if (isOrdinary(request) && !hasTab && identityOf(this.#world, request) !== null && code !== 'unavailable')
      fault(`an ordinary request was not proxied: ${status} ${code ?? ''}`);
    if (!own || status >= 500) return 'unclear';
    // A request that waits for its turn may be rejected for its target, or for a malformed chunk that comes meanwhile.
    return status === 400 ? 'rejected 400' : `rejected ${status} ${code ?? ''}`;
  }

  #compare(one: RequestCase, outcomes: readonly Outcome[]): void {
    const longest = Math.max(...outcomes.map(({ endings }) => endings.length));
    for (let i = 0; i < longest; i++) {
      const clear = outcomes
        .map(({ kind, endings }) => [kind, endings[i] ?? 'unclear'] as const)
        .filter(([, ending]) => ending !== 'unclear');
      const endings = new Set(clear.map(([, ending]) => ending));
      // A request that waits for its turn gets 400 if a malformed chunk comes meanwhile, else what its head deserves.
      const isProxied = [...endings].some((ending) => ending.startsWith('proxied'));
      if (i > 0 && !isProxied) endings.delete('rejected 400');
      if (endings.size > 1)
        this.#fault(
          `request ${i + 1} went differently: ${clear.map((each) => each.join(' ')).join(', ')}`,
          one,
        );
    }
  }

  #fault(what: string, of: RequestCase | undefined, heard = ''): void {
    this.#onFault({ what, of, heard });
  }
}

function keyOf({ kind, method, target }: Pick<Sighting, 'kind' | 'method' | 'target'>): string {
  return `${kind} ${method} ${target}`;
}

function shown({ responses, leftover }: Heard): string {
  return (
    responses.map(({ status, body }) => `${status} ${body.slice(0, 200)}\n`).join('') + leftover.slice(0, 500)
  );
}
