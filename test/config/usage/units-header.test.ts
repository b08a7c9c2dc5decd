// class: pure
/** The response header in which services state units. */
import t from 'tap';
import { configFile, faultsOf } from '../../support/config-files.ts';

const faultsFor = (name: string): number =>
  faultsOf({
    CONFIG: configFile(
      t,
      `headers: {prefix: Acme-}\nauthentication: {headers: [X-API-Key]}\nupstream_url: http://a\nusage: {units_header: "${name}"}`,
    ),
  }).filter(({ where }) => where.includes('units_header')).length;

t.test('a header with a meaning of its own cannot state units', async (t) => {
  for (const name of [
    ...['Content-Length', 'content-type', 'Transfer-Encoding', 'Connection', 'Set-Cookie', 'Date', 'ETag'],
    ...['Location', 'X-Request-Id', 'X-Service-Units', 'Acme-Units', 'X-API-Key', 'x_api_key', 'RateLimit'],
    ...['Access-Control-Allow-Origin', 'Proxy-Units', 'no name'],
  ])
    t.equal(faultsFor(name), 1, name);
  for (const name of ['X-Units', 'Tokens-Used', 'openai-tokens']) t.equal(faultsFor(name), 0, name);
});
