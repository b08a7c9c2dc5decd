/** Body sizes served under `/bytes/<name>`. */
export const bodySizes = { '100': 100, '10k': 10_240, '1m': 1_048_576 } as const;

/** A JSON document of exactly that many bytes. */
export function jsonOf(bytes: number): string {
  const frame = JSON.stringify({ shipment: '' });
  return JSON.stringify({ shipment: 'x'.repeat(bytes - frame.length) });
}
