/**
 * What `/metrics` says of one series; `NaN` where it is not there.
 *
 * @param series with its labels in the order in which they are shown; labels that are left out at the end may be anything
 */
export async function valueOf(internalUrl: string, series: string): Promise<number> {
  const text = await (await fetch(`${internalUrl}/metrics`)).text();
  const begin = series.endsWith('}')
    ? [series + ' ', series.slice(0, -1) + ',']
    : [series + ' ', series + '{'];
  const line = text.split('\n').find((line) => begin.some((start) => line.startsWith(start)));
  return Number(line?.slice(line.lastIndexOf(' ') + 1) ?? NaN);
}
