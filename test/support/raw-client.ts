/** A client that sends exactly the bytes it is given, for what no HTTP library would send. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Scope } from './servers.ts';

export interface RawResponse {
  readonly status: number;
  /** Lower-case names; repeated headers are joined by newlines. */
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHead: string;
  readonly body: string;
  /** The body as JSON. */
  json(): ResponseBody;
  /** Code of a problem. */
  readonly code: string | undefined;
}

/** What tests look for in bodies: members of a problem. */
export interface ResponseBody {
  readonly code?: string;
  readonly detail?: string;
  readonly instance?: string;
  readonly request_id?: string;
  readonly scope?: string;
  readonly limited?: string;
}

export class RawClient {
  /** Everything that came in, undecoded. */
  text = '';
  /** The other end has closed, or the connection broke. */
  closed = false;
  readonly socket: Socket;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => {
      this.text += chunk.toString('latin1');
      this.#wake();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.closed = true;
      this.#wake();
    });
  }

  send(bytes: string | Buffer): this {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return this;
  }

  /** Waits until `condition` holds of what came in so far. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.closed)
        throw new Error(`the connection closed after: ${JSON.stringify(this.text.slice(this.#taken))}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** The next response on the connection, whole. Interim responses are skipped. @param method of its request */
  async response(method = 'GET'): Promise<RawResponse> {
    for (;;) {
      await this.until(() => this.text.indexOf('\r\n\r\n', this.#taken) !== -1);
      const end = this.text.indexOf('\r\n\r\n', this.#taken) + 4;
      const rawHead = this.text.slice(this.#taken, end);
      this.#taken = end;
      const [statusLine = '', ...lines] = rawHead.trimEnd().split('\r\n');
      const status = Number(statusLine.split(' ')[1]);
      if (status < 200) continue;
      const headers: Record<string, string> = {};
      for (const line of lines) {
        const name = line.slice(0, line.indexOf(':')).toLowerCase();
        const value = line.slice(line.indexOf(':') + 1).trim();
        headers[name] = name in headers ? `${headers[name]}\n${value}` : value;
      }
      const body = method === 'HEAD' || status === 204 || status === 304 ? '' : await this.#body(headers);
      const json = (): ResponseBody => JSON.parse(body) as ResponseBody;
      const code =
        body !== '' && headers['content-type'] === 'application/problem+json' ? json().code : undefined;
      return { status, headers, rawHead, body, json, code };
    }
  }

  /** Waits for the end of the connection. */
  async end(): Promise<void> {
    while (!this.closed) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  async #body(headers: Readonly<Record<string, string>>): Promise<string> {
    if (headers['transfer-encoding'] !== undefined) return this.#chunked();
    if (headers['content-length'] === undefined) {
      await this.end();
      return this.#take(this.text.length - this.#taken);
    }
    const length = Number(headers['content-length']);
    await this.until(() => this.text.length - this.#taken >= length);
    return this.#take(length);
  }

  async #chunked(): Promise<string> {
    let body = '';
    for (;;) {
      await this.until(() => this.text.indexOf('\r\n', this.#taken) !== -1);
      const line = this.text.slice(this.#taken, this.text.indexOf('\r\n', this.#taken));
      this.#taken += line.length + 2;
      const size = Number.parseInt(line, 16);
      await this.until(() => this.text.length - this.#taken >= size + 2);
      if (size === 0) {
        await this.until(() => /^(?:[^\r\n]+\r\n)*\r\n/.test(this.text.slice(this.#taken)));
        const trailers = /^(?:[^\r\n]+\r\n)*\r\n/.exec(this.text.slice(this.#taken))?.[0] ?? '';
        this.#taken += trailers.length;
        return body;
      }
      body += this.#take(size);
      this.#taken += 2;
    }
  }

  #take(length: number): string {
    const taken = this.text.slice(this.#taken, this.#taken + length);
    this.#taken += length;
    return taken;
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** Connects; the connection ends with the test. @param localAddress address of the client, in 127.0.0.0/8 */
export async function rawClient(t: Scope, port: number, localAddress?: string): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', ...(localAddress && { localAddress }) });
  t.teardown(() => socket.destroy());
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.removeAllListeners('error');
  return new RawClient(socket);
}

/** Connects by TLS to the name of the test certificates; the connection ends with the test. */
export async function tlsClient(t: Scope, port: number, ca: string): Promise<RawClient> {
  const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca });
  t.teardown(() => socket.destroy());
  await once(socket, 'secureConnect');
  return new RawClient(socket);
}

/** The first bytes of a client that speaks TLS. */
export async function clientHello(t: Scope): Promise<Buffer> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connectTls((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  t.teardown(() => (client.destroy(), server.close()));
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [hello] = (await once(socket, 'data')) as [Buffer];
  return hello;
}

/** One request on a connection of its own, and its response. */
export async function rawRequest(t: Scope, port: number, bytes: string): Promise<RawResponse> {
  const client = await rawClient(t, port);
  client.send(bytes);
  const response = await client.response(bytes.slice(0, bytes.indexOf(' ')));
  client.socket.destroy();
  return response;
}

/** Headers of a request, as a list where one of them comes twice. */
export type Headers = readonly (readonly [string, string])[] | Readonly<Record<string, string>>;

/** Headers in the order and spelling they are given. */
export function headerList(headers: Headers): readonly (readonly [string, string])[] {
  return Array.isArray(headers) ? (headers as readonly [string, string][]) : Object.entries(headers);
}

/** Makes an OPTIONS a CORS preflight. */
export const preflight = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT' };

/** Writes a request head: request line, Host, and `headers` in the order and spelling they are given. */
export function requestText(method: string, target: string, headers: Headers = [], body = ''): string {
  const lines = headerList(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  if (body !== '') lines.push(`Content-Length: ${Buffer.byteLength(body, 'latin1')}\r\n`);
  return `${method} ${target} HTTP/1.1\r\nHost: gateway.test\r\n${lines.join('')}\r\n${body}`;
}
