/**
 * An example on the ports of a test. All are put at once, and only for whole numbers: a free port that is put for one of the
 * example's can itself contain another of them (31000 begins with 3100).
 */
export function withPorts(text: string, ports: Readonly<Record<string, number | string>>): string {
  return text.replaceAll(/\b\d+\b/g, (number) => String(ports[number] ?? number));
}
