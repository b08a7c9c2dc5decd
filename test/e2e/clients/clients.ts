/** The clients of the matrix, in the order of the page. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Launch } from './driver.ts';
import { curlClient, programClient, type HttpClient } from './http-client.ts';
import { curl, goProgram, java, node, programs, python } from './tools.ts';
import type { World } from './world.ts';

/** A client that is there. */
export interface Ready<What> {
  /** Its own version, and that of what it runs on. */
  readonly version: string;
  readonly what: What;
}

export interface Client<What> {
  readonly name: string;
  /** Rejects with `Missing` where it cannot be had. */
  readonly prepare: (world: World) => Promise<Ready<What>>;
  /** Cases that are not for it, and why. */
  readonly without?: Readonly<Record<string, string>>;
}

/** Gets a client's program ready. */
type Prepare = Client<Launch>['prepare'];

export const httpClients: readonly Client<HttpClient>[] = [
  {
    ...curlWith('--http1.0'),
    without: {
      chunked: 'HTTP/1.0 has no chunks',
      'keep-alive': 'curl asks for none in HTTP/1.0',
    },
  },
  curlWith('--http1.1'),
  curlWith('--http2', 'HTTP2'),
  ...['requests', 'httpx', 'aiohttp'].map((name) => overHttp(`Python ${name}`, inPython(name))),
  overHttp('Go net/http', inGo('go')),
  overHttp('Java HttpClient', inJava('HttpLines')),
  ...['fetch', 'undici', 'axios'].map((name) => overHttp(`Node ${name}`, onNode(name))),
];

export const webSocketClients: readonly Client<Launch>[] = [
  { name: 'ws', prepare: onNode('ws') },
  { name: 'Python websockets', prepare: inPython('websockets') },
  { name: 'gorilla/websocket', prepare: inGo('gorilla') },
  { name: 'Java WebSocket', prepare: inJava('WebSocketLines') },
];

export const eventClients: readonly Client<Launch>[] = [
  { name: 'eventsource', prepare: onNode('eventsource') },
];

function curlWith(flag: string, feature?: string): Client<HttpClient> {
  return {
    name: `curl ${flag}`,
    prepare: async ({ trust }) => {
      const { program, version } = await curl(feature);
      return { version, what: curlClient(program, [flag], trust) };
    },
  };
}

function overHttp(name: string, prepare: Prepare): Client<HttpClient> {
  return {
    name,
    prepare: async (world) => {
      const { version, what } = await prepare(world);
      return { version, what: programClient(what) };
    },
  };
}

function inPython(name: string): Prepare {
  return async ({ trust: env }) => {
    const { program: command, version } = await python();
    const args = [join(programs, `python-${name}.py`)];
    return { version: version(name), what: { command, args, cwd: programs, env } };
  };
}

function inGo(name: 'go' | 'gorilla'): Prepare {
  return async ({ trust: env }) => {
    const { program: command, version } = await goProgram(name);
    const said = name === 'go' ? version : `gorilla ${gorillaVersion()}, ${version}`;
    return { version: said, what: { command, args: [], cwd: programs, env } };
  };
}

function gorillaVersion(): string {
  return /gorilla\/websocket v(\S+)/.exec(readFileSync(join(programs, 'gorilla/go.mod'), 'utf8'))?.[1] ?? '';
}

function inJava(name: string): Prepare {
  return async ({ javaTrust }) => {
    const { program: command, classes, version } = await java();
    return { version, what: { command, args: [...javaTrust, '-cp', classes, name], cwd: programs } };
  };
}

function onNode(name: string): Prepare {
  return async ({ trust: env }) => {
    const { program: command, folder: cwd, version } = await node();
    const said = name === 'fetch' ? `Node ${process.version}` : version(name);
    return { version: said, what: { command, args: [join(programs, `${name}.mjs`)], cwd, env } };
  };
}
