/** What `node:http` reads in the bytes of a connection, by its strict parser. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';

/** A request that was read to its end. */
export interface ReadRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
  /** Latin-1. */
  readonly body: string;
}

/** Requests in the bytes, and whether what follows them was rejected. */
export interface Reading {
  readonly requests: ReadRequest[];
  rejected: boolean;
}

/** A connection whose client has sent these bytes, and waits. */
class Bytes extends Duplex {
  override _read(): void {
    /* The bytes are pushed. */
  }
  override _write(_chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    done();
  }
  setTimeout(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
}

const readings = new WeakMap<object, Reading>();
const server = createServer({ requireHostHeader: false, maxHeaderSize: 1024 * 1024, keepAliveTimeout: 0 });
server.maxHeadersCount = 0;

function take(request: IncomingMessage, response: ServerResponse): void {
  const reading = readings.get(request.socket);
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { method = '', url = '', rawHeaders } = request;
    const body = Buffer.concat(chunks).toString('latin1');
    reading?.requests.push({ method, target: url, headers: rawHeaders, body });
    response.end();
  });
}
server.on('request', take);
server.on('checkContinue', take);
server.on('checkExpectation', take);
server.on('clientError', (_error, socket) => {
  const reading = readings.get(socket);
  if (reading !== undefined) reading.rejected = true;
  socket.destroy();
});

server.on('connect', (request: IncomingMessage) => {
  const { method = '', url = '', rawHeaders } = request;
  readings.get(request.socket)?.requests.push({ method, target: url, headers: rawHeaders, body: '' });
});

/** Reads bytes as `node:http` does. They arrive in these pieces. */
export async function readByNode(pieces: readonly Buffer[]): Promise<Reading> {
  const reading: Reading = { requests: [], rejected: false };
  const connection = new Bytes();
  connection.on('error', () => undefined);
  readings.set(connection, reading);
  server.emit('connection', connection);
  for (const piece of pieces) {
    connection.push(piece);
    // Everything happens within a few turns, because nothing waits for a network.
    for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  connection.destroy();
  return reading;
}
