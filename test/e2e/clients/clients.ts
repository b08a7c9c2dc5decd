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
  inPython('requests'),
  inPython('httpx'),
  inPython('aiohttp'),
  {
    name: 'Go net/http',
    prepare: async ({ trust }) => {
      const { program, version } = await goProgram('go');
      return { version, what: programClient({ command: program, args: [], cwd: programs, env: trust }) };
    },
  },
  {
    name: 'Java HttpClient',
    prepare: async (world) => {
      const { launch, version } = await inJava('HttpLines', world);
      return { version, what: programClient(launch) };
    },
  },
  onNode('fetch', 'fetch.mjs'),
  onNode('undici', 'undici.mjs'),
  onNode('axios', 'axios.mjs'),
];

export const webSocketClients: readonly Client<Launch>[] = [
  {
    name: 'ws',
    prepare: async ({ trust }) => {
      const { program, folder, version } = await node();
      return { version: version('ws'), what: launchOf(program, 'ws.mjs', folder, trust) };
    },
  },
  {
    name: 'Python websockets',
    prepare: async ({ trust }) => {
      const { program, version } = await python();
      return {
        version: version('websockets'),
        what: launchOf(program, 'python-websockets.py', programs, trust),
      };
    },
  },
  {
    name: 'gorilla/websocket',
    prepare: async ({ trust }) => {
      const { program, version } = await goProgram('gorilla');
      return {
        version: `gorilla ${gorillaVersion()}, ${version}`,
        what: { command: program, args: [], cwd: programs, env: trust },
      };
    },
  },
  {
    name: 'Java WebSocket',
    prepare: async (world) => {
      const { launch, version } = await inJava('WebSocketLines', world);
      return { version, what: launch };
    },
  },
];

export const eventClients: readonly Client<Launch>[] = [
  {
    name: 'eventsource',
    prepare: async ({ trust }) => {
      const { program, folder, version } = await node();
      return { version: version('eventsource'), what: launchOf(program, 'eventsource.mjs', folder, trust) };
    },
  },
];

function gorillaVersion(): string {
  return /gorilla\/websocket v(\S+)/.exec(readFileSync(join(programs, 'gorilla/go.mod'), 'utf8'))?.[1] ?? '';
}

function curlWith(flag: string, feature?: string): Client<HttpClient> {
  return {
    name: `curl ${flag}`,
    prepare: async ({ trust }) => {
      const { program, version } = await curl(feature);
      return { version, what: curlClient(program, [flag], trust) };
    },
  };
}

function inPython(name: string): Client<HttpClient> {
  return {
    name: `Python ${name}`,
    prepare: async ({ trust }) => {
      const { program, version } = await python();
      return {
        version: version(name),
        what: programClient(launchOf(program, `python-${name}.py`, programs, trust)),
      };
    },
  };
}

function onNode(name: string, file: string): Client<HttpClient> {
  return {
    name: `Node ${name}`,
    prepare: async ({ trust }) => {
      const { program, folder, version } = await node();
      const said = name === 'fetch' ? `Node ${process.version}` : version(name);
      return { version: said, what: programClient(launchOf(program, file, folder, trust)) };
    },
  };
}

async function inJava(name: string, { javaTrust }: World): Promise<{ launch: Launch; version: string }> {
  const { program, classes, version } = await java();
  const args = [...javaTrust, '-cp', classes, name];
  return { version, launch: { command: program, args, cwd: programs } };
}

function launchOf(command: string, file: string, cwd: string, env: Readonly<Record<string, string>>): Launch {
  return { command, args: [join(programs, file)], cwd, env };
}
