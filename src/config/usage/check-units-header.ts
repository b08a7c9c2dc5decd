import { foldHeaderName, headerNames, readsAsReserved } from '../../domain/header-names.ts';
import { ordinaryHeaders } from '../check-headers.ts';
import type { UncheckedFile } from '../gateway-file.ts';
import type { SchemaFault } from '../validate.ts';

/** Response headers that clients need. The gateway takes the header that states units out of responses. */
const ordinaryResponseHeaders = [
  'age',
  'allow',
  'alt-svc',
  'content-disposition',
  'content-language',
  'content-location',
  'content-range',
  'date',
  'etag',
  'expires',
  'keep-alive',
  'last-modified',
  'link',
  'location',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'server',
  'set-cookie',
  'strict-transport-security',
  'te',
  'trailer',
  'vary',
  'via',
  'www-authenticate',
];

/** Rejects a header that cannot state units, because it has another meaning or the gateway sets it. */
export function checkUnitsHeader({ usage, headers, authentication }: UncheckedFile): SchemaFault[] {
  const name = usage.units_header;
  if (name === undefined) return [];
  const keyHeaders = authentication.headers.filter((header) => header !== undefined);
  const folded = foldHeaderName(name);
  const isOrdinary = [...ordinaryHeaders, ...ordinaryResponseHeaders].includes(folded);
  if (!isOrdinary && !/^(proxy|access-control)-/.test(folded)) {
    if (!readsAsReserved(name, headerNames(headers.prefix, keyHeaders))) return [];
  }
  return [{ path: ['usage', 'units_header'], detail: 'has a meaning of its own, so it cannot state units' }];
}
