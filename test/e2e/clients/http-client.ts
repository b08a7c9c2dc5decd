/** An HTTP client of the matrix: a program that is asked line by line, or curl. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Driver, decoded, encoded, type Launch } from './driver.ts';

export interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text, so many bytes of known length, or so many in chunks. */
  readonly body?: { readonly text: string } | { readonly sized: number } | { readonly chunked: number };
}

/** A response as the client's own API gave it. */
export interface Response {
  readonly status: number;
  /** By name in lower case; repeated ones joined. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

export interface HttpClient {
  /** One after the other, on what connections the client chooses. Throws what the client threw. */
  send(requests: readonly Request[]): Promise<Response[]>;
  stop(): Promise<void>;
}

/** A client that is a program which stays. */
export function programClient(launch: Launch): HttpClient {
  const driver = new Driver(launch);
  return {
    async send(requests) {
      const responses: Response[] = [];
      for (const { method, url, body, headers = {} } of requests) {
        const columns = [method, url, bodyColumn(body), ...Object.entries(headers).flat()];
        const [status, lines, data] = await driver.ask(columns);
        responses.push({ status: Number(status), headers: headersOf(decoded(lines)), body: decoded(data) });
      }
      return responses;
    },
    stop: () => driver.stop(),
  };
}

/** curl: all requests of one call in one command, as its connections end with it. */
export function curlClient(
  curl: string,
  flags: readonly string[],
  env: Readonly<Record<string, string>>,
): HttpClient {
  return {
    async send(requests) {
      const dir = mkdtempSync(join(tmpdir(), 'tenancy-gateway-curl-'));
      try {
        const args = requests.flatMap((request, i) => [
          ...(i > 0 ? ['--next'] : []),
          ...curlArgs(request, flags, dir, i),
        ]);
        await run(curl, args, env);
        return requests.map((_, i) => curlResponse(dir, i));
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    },
    stop: () => Promise.resolve(),
  };
}

function curlArgs(
  { method, url, headers = {}, body }: Request,
  flags: readonly string[],
  dir: string,
  number: number,
): string[] {
  const upload = join(dir, `upload-${number}`);
  if (body !== undefined) writeFileSync(upload, bytesOf(body));
  const chunked = body !== undefined && 'chunked' in body;
  return [
    ...['--silent', '--show-error', '--max-time', '25', ...flags],
    ...['--dump-header', join(dir, `head-${number}`), '--output', join(dir, `body-${number}`)],
    ...(method === 'HEAD' ? ['--head'] : ['--request', method]),
    ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ...(chunked ? ['--header', 'Transfer-Encoding: chunked'] : []),
    ...(body === undefined ? [] : ['--data-binary', `@${upload}`]),
    url,
  ];
}

function run(curl: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  return new Promise((resolve, reject) => {
    // Without its own environment curl reads no configuration file and knows of no proxy.
    execFile(curl, ['--disable', ...args], { env }, (error, _, stderr) =>
      error === null ? resolve() : reject(new Error(stderr.trim().split('\n').at(-1) || error.message)),
    );
  });
}

function curlResponse(dir: string, number: number): Response {
  // Interim responses come first.
  const head =
    readFileSync(join(dir, `head-${number}`), 'latin1')
      .trimEnd()
      .split(/\r\n\r\n/)
      .at(-1) ?? '';
  const [statusLine = '', ...lines] = head.split('\r\n');
  const body = join(dir, `body-${number}`);
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: headersOf(Buffer.from(lines.join('\n'))),
    // curl writes no file for a body that is not there, and the head of a HEAD into it.
    body: /^HTTP/.test(contentOf(body).toString('latin1')) ? Buffer.alloc(0) : contentOf(body),
  };
}

function contentOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}

/** What a body column of a program comes to. */
export function bytesOf(body: NonNullable<Request['body']>): Buffer {
  return 'text' in body
    ? Buffer.from(body.text)
    : Buffer.alloc('sized' in body ? body.sized : body.chunked, 'x');
}

function bodyColumn(body: Request['body']): string {
  if (body === undefined) return '-';
  if ('text' in body) return `text:${encoded(body.text)}`;
  return 'sized' in body ? `sized:${body.sized}` : `chunked:${body.chunked}`;
}

function headersOf(lines: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines.toString().split('\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (colon > 0) headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value);
  }
  return headers;
}
