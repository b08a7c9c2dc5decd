/** What a method does to the acting rules (spec section 4, acting header rules 1 and 3). */
export type MethodKind = 'read' | 'write';

const kinds: ReadonlyMap<string, MethodKind> = new Map([
  ['GET', 'read'],
  ['HEAD', 'read'],
  ['OPTIONS', 'read'],
  ['POST', 'write'],
  ['PUT', 'write'],
  ['PATCH', 'write'],
  ['DELETE', 'write'],
]);

/** The methods the gateway serves or forwards; every other one gets 405 and is never proxied. */
export const servedMethods: readonly string[] = [...kinds.keys()];

/** `undefined` for a method that is never proxied. Methods are case-sensitive (RFC 9110 §9.1). */
export function methodKind(method: string): MethodKind | undefined {
  return kinds.get(method);
}
