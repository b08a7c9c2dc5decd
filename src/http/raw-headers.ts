/**
 * Header values from the raw list, in the order they were sent. Parsed header objects join or drop repeated
 * headers; what decides who a request acts as must see every one of them.
 *
 * @param rawHeaders names and values alternating, as Node gives them
 * @param name lower case
 */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const candidate = rawHeaders[i] as string;
    if (candidate.length === name.length && candidate.toLowerCase() === name)
      values.push(rawHeaders[i + 1] as string);
  }
  return values;
}
