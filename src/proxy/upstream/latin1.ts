/** The bytes as text, one character each: what `toString('latin1')` calls in the end, without its checks. */
export function latin1(bytes: Uint8Array, from: number, to: number): string {
  return (bytes as Latin1Bytes).latin1Slice(from, to);
}

/** Node has it on every Buffer; the declarations leave it out. */
interface Latin1Bytes extends Uint8Array {
  latin1Slice(start: number, end: number): string;
}
