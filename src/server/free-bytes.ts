/** Minimum number of bytes for which it pays to free memory early. Node's pool, which others share, is smaller. */
const leastBytes = 16 * 1024;

/**
 * Frees the memory of bytes that a client's socket has read and no exchange needs any longer. Node allocates up to 64 KB for each read
 * of an accepted socket. A long upload allocates so fast that V8 from Node 22 on would collect the whole heap several
 * times a second, only to free these buffers. Older versions of Node cannot free them early, and do not need to.
 */
export function freeBytes(bytes: Buffer): void {
  const buffer = bytes.buffer as ArrayBuffer & { readonly transfer?: (length: number) => ArrayBuffer };
  if (bytes.length >= leastBytes && buffer.byteLength === bytes.length) buffer.transfer?.(0);
}
