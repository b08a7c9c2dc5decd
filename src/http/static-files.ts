import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';

/** A file as clients get it. All responses share its bytes. */
export interface StaticFile {
  readonly type: string;
  readonly cacheControl: string;
  readonly plain: Representation;
  readonly gzipped: Representation;
}

/** A form of a file. */
export interface Representation {
  readonly bytes: Buffer;
  /** Strong `ETag`, which no other form and no other content has. */
  readonly etag: string;
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/** Names with a hash of the content, which never changes under the same name. */
const hashed = /-[A-Z0-9]{8}\.(?:js|css)$/;

/** Reads all files of a folder, by name. @throws if the folder does not exist */
export function readStaticFiles(folder: URL): ReadonlyMap<string, StaticFile> {
  return new Map(
    readdirSync(folder).map((name) => {
      const type = types[extname(name)] ?? 'application/octet-stream';
      return [name, staticFile(name, type, readFileSync(new URL(name, folder)))] as const;
    }),
  );
}

/** Makes a file of its content. Browsers keep it without asking again only if its name has a hash. */
export function staticFile(name: string, type: string, content: string | Buffer): StaticFile {
  const bytes = Buffer.from(content);
  return {
    type,
    cacheControl: hashed.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    plain: representation(bytes),
    gzipped: representation(gzipSync(bytes, { level: 9 })),
  };
}

function representation(bytes: Buffer): Representation {
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}
