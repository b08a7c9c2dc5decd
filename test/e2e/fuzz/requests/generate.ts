import type { Random } from '../../../support/coherence/random.ts';
import { mutate, splitsOf } from '../mutate.ts';
import type { World } from '../world.ts';
import { bodies, goodFramings, oddFramings } from './bodies.ts';
import type { RequestCase } from './case.ts';
import {
  actings,
  as,
  authorizations,
  host,
  methods,
  oddAuthorizations,
  oddHeaders,
  oddHosts,
  oddMethods,
  oddTargets,
  oddVersions,
  suffixes,
} from './heads.ts';

/** Draws what a client sends on a connection: some requests, of which one or another is not quite right. */
export function drawCase(random: Random, world: World): RequestCase {
  const count = 1 + random.below(4);
  let bytes = '';
  for (let i = 0; i < count; i++) {
    const request = drawRequest(random, world, i);
    bytes += random.chance(0.12) ? mutate(random, request) : request;
  }
  // A reader that takes everything as it is meant ends with this one, and so does the connection.
  bytes += write(
    ['GET', `/up-?/last/=TOKEN9=`, 'HTTP/1.1'],
    [host, as(world.parent.key), 'Connection: close'],
    '',
  );
  return { name: 'drawn', bytes, splits: splitsOf(random, bytes.length, 0.15) };
}

function drawRequest(random: Random, world: World, index: number): string {
  const odd = (share: number): boolean => random.chance(share);
  const word = `=TOKEN${index}=`;
  const method = odd(0.05) ? random.pick(oddMethods) : random.pick(methods);
  const prefix = odd(0.2) ? '/open-?' : '/up-?';
  const target = odd(0.2) ? random.pick(oddTargets)(word) : `${prefix}/${word}${random.pick(suffixes)}`;
  const version = odd(0.04) ? random.pick(oddVersions) : 'HTTP/1.1';
  const holder = random.pick([world.parent, world.parent, world.parent, world.sub, world.solo]);
  const headers = [odd(0.03) ? random.pick(oddHosts) : host];
  headers.push(
    odd(0.06)
      ? random.pick(oddAuthorizations)(holder.key, world.solo.key)
      : random.pick(authorizations)(holder.key),
  );
  if (odd(0.7)) headers.push(`X-Service-Acting-Tenant: ${random.pick(actings(world))}`);
  for (let more = random.below(3); more > 0; more--)
    headers.push(odd(0.5) ? `X-Dull-${more}: ${word}` : random.pick(oddHeaders)(word));
  const body = random.pick(bodies)(random, word, world);
  const wants = method === 'POST' || method === 'PUT' || method === 'PATCH' || odd(0.15);
  const framed = wants
    ? (odd(0.3) ? random.pick(oddFramings) : random.pick(goodFramings))(body, random)
    : { lines: [], body: '' };
  const lines = shuffled(random, [...headers, ...framed.lines]);
  const blank = odd(0.01) ? random.pick(['  ', '\t', '\x0b', ' \t']) : ' ';
  return write(
    [method, target, version],
    lines,
    framed.body,
    blank,
    odd(0.02) ? random.pick(['\n', '\r', '\r\r\n']) : '\r\n',
  );
}

function write(
  line: readonly string[],
  headers: readonly string[],
  body: string,
  blank = ' ',
  eol = '\r\n',
): string {
  return `${line.join(blank)}${eol}${headers.map((header) => header + eol).join('')}${eol}${body}`;
}

function shuffled(random: Random, lines: string[]): string[] {
  for (let i = lines.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [lines[i], lines[j]] = [lines[j] ?? '', lines[i] ?? ''];
  }
  return lines;
}
