/** A collector that takes traces by OTLP/HTTP, and keeps the spans. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Scope } from './servers.ts';

export interface CollectedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty where the trace begins with it. */
  readonly parentId: string;
  readonly traceState: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'other';
  /** Nanoseconds since 1970. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly failed: boolean;
}

export interface Collector {
  readonly endpoint: string;
  readonly spans: CollectedSpan[];
  /** Exports that came in, with or without a response. */
  readonly exports: IncomingMessage[];
  readonly bodies: Buffer[];
}

/** @param hangs take exports and never respond @param status of its responses */
export async function startCollector(t: Scope, { hangs = false, status = 200 } = {}): Promise<Collector> {
  const collector = {
    endpoint: '',
    spans: [] as CollectedSpan[],
    exports: [] as IncomingMessage[],
    bodies: [] as Buffer[],
  };
  const server = createServer((request, response) => {
    collector.exports.push(request);
    void buffer(request).then((body) => {
      collector.bodies.push(body);
      collector.spans.push(...spansOf(body));
      if (!hangs) response.writeHead(status, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(collector, { endpoint: `http://127.0.0.1:${port}/v1/traces` });
}

/** Reads an ExportTraceServiceRequest (opentelemetry-proto, collector/trace/v1). */
function spansOf(body: Buffer): CollectedSpan[] {
  return all(body, 1).flatMap((resourceSpans) => {
    const resource = attributesOf(all(resourceSpans, 1)[0] ?? none, 1);
    return all(resourceSpans, 2)
      .flatMap((scopeSpans) => all(scopeSpans, 2))
      .map((span) => spanOf(span, String(resource['service.name'])));
  });
}

function spanOf(span: Buffer, service: string): CollectedSpan {
  const text = (field: number, encoding: BufferEncoding = 'utf8') =>
    (all(span, field)[0] ?? none).toString(encoding);
  const status = all(span, 15)[0];
  return {
    service,
    traceId: text(1, 'hex'),
    spanId: text(2, 'hex'),
    traceState: text(3),
    parentId: text(4, 'hex'),
    name: text(5),
    kind: kinds[Number(numbers(span, 6)[0] ?? 0n)] ?? 'other',
    start: numbers(span, 7)[0] ?? 0n,
    end: numbers(span, 8)[0] ?? 0n,
    attributes: attributesOf(span, 9),
    failed: status !== undefined && numbers(status, 3)[0] === 2n,
  };
}

const none = Buffer.alloc(0);
const kinds = ['other', 'internal', 'server', 'client'] as const;

function attributesOf(message: Buffer, field: number): Record<string, string | number | boolean> {
  return Object.fromEntries(
    all(message, field).map((pair): [string, string | number | boolean] => {
      const value = all(pair, 2)[0] ?? none;
      const [text] = all(value, 1);
      const [truth] = numbers(value, 2);
      const key = (all(pair, 1)[0] ?? none).toString();
      if (text !== undefined) return [key, text.toString()];
      return [key, truth === undefined ? Number(numbers(value, 3)[0] ?? 0n) : truth === 1n];
    }),
  );
}

/** Fields of a protobuf message that hold bytes, text or messages. */
function all(message: Buffer, wanted: number): Buffer[] {
  return fields(message).flatMap(({ field, value }) =>
    field === wanted && typeof value !== 'bigint' ? [value] : [],
  );
}

function numbers(message: Buffer, wanted: number): bigint[] {
  return fields(message).flatMap(({ field, value }) =>
    field === wanted && typeof value === 'bigint' ? [value] : [],
  );
}

function fields(message: Buffer): { field: number; value: bigint | Buffer }[] {
  const found: { field: number; value: bigint | Buffer }[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const key = Number(varint());
    const [field, type] = [key >> 3, key & 7];
    if (type === 0) found.push({ field, value: varint() });
    else if (type === 1) found.push({ field, value: message.readBigUInt64LE((at += 8) - 8) });
    else if (type === 5) found.push({ field, value: BigInt(message.readUInt32LE((at += 4) - 4)) });
    else {
      const length = Number(varint());
      found.push({ field, value: message.subarray(at, (at += length)) });
    }
  }
  return found;
}
