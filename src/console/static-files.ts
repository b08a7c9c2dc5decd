import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';

/** A file as browsers get it. */
export interface StaticFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  /** `ETag`. Weak, because the compressed file has the same one. */
  readonly etag: string;
  readonly cacheControl: string;
}

/** Folder of the files that `npm run build` makes of `console/`. */
export const builtFiles = new URL('../../dist/console/static/', import.meta.url);

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
      const bytes = readFileSync(new URL(name, folder));
      const digest = createHash('sha256').update(bytes).digest('base64url');
      const file = {
        type: types[extname(name)] ?? 'application/octet-stream',
        bytes,
        gzipped: gzipSync(bytes, { level: 9 }),
        etag: `W/"${digest}"`,
        cacheControl: hashed.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
      };
      return [name, file] as const;
    }),
  );
}
