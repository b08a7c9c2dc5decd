import type { World } from '../world.ts';
import { base64 } from './heads.ts';

/** What a hostile client sends on one connection. */
export interface RequestCase {
  readonly name: string;
  /**
   * `/up-?` stands for the prefix of an upstream, `/open-?` for that of its open route, `=TOKEN0=` to `=TOKEN9=` for words that no other request holds, `<parent-key>`
   * and the like for what differs from one gateway to the next.
   */
  readonly bytes: string;
  /** Where it pauses for a moment while it sends. */
  readonly splits: readonly number[];
}

/** Upstreams, by the letter of their route: what Node, nginx, HAProxy and a reader of our own make of a request. */
export const kinds = { e: 'node', b: 'bytes', n: 'nginx', h: 'haproxy' } as const;
export type Kind = keyof typeof kinds;

/** The bytes as they go out. `number` is of the case, so that its words are its own. */
export function filled(bytes: string, kind: Kind, number: number): string {
  const word = wordOf(number, kind);
  return bytes
    .replaceAll('/up-?', `/up-${kind}`)
    .replaceAll('/open-?', `/open-${kind}`)
    .replace(/=TOKEN(\d)=/g, (_, digit: string) => `=${word}${digit}=`);
}

/** The word of a case at one upstream, without the digit that ends it. */
export function wordOf(number: number, kind: Kind): string {
  return (number * 4 + Object.keys(kinds).indexOf(kind)).toString(36).padStart(5, '0');
}

export const anyWord = /=([0-9a-z]{5})\d=/;

/** What stands for what in inputs that are kept. */
function placeholders({ parent, sub, solo, subAccounts }: World): readonly (readonly [string, string])[] {
  return [
    ...Object.entries({ parent, sub, solo }).flatMap(([name, { key }]) => [
      [`<${name}-as-user-name>`, base64(`${key}:`)] as const,
      [`<${name}-as-password>`, base64(`api:${key}`)] as const,
    ]),
    ['<parent-key>', parent.key],
    ['<sub-key>', sub.key],
    ['<solo-key>', solo.key],
    ['<parent>', parent.accountId],
    ['<sub-a>', subAccounts.a],
    ['<sub-b>', subAccounts.b],
    ['<foreign>', subAccounts.foreign],
  ];
}

export function withValues(world: World, bytes: string): string {
  return placeholders(world).reduce((text, [name, value]) => text.replaceAll(name, value), bytes);
}

export function withPlaceholders(world: World, bytes: string): string {
  return placeholders(world).reduce((text, [name, value]) => text.replaceAll(value, name), bytes);
}
