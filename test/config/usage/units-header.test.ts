// class: pure
/** The response header in which services state units. */
import t from 'tap';
import { settingTakes } from '../../support/config-files.ts';

const others = `headers: {prefix: Acme-}\nauthentication: {headers: [X-API-Key]}\nupstream_url: http://a\n`;

settingTakes(
  t,
  'a header with a meaning of its own cannot state units',
  (name) => `${others}usage: {units_header: "${name}"}`,
  {
    good: ['X-Units', 'Tokens-Used', 'openai-tokens'],
    bad: [
      ...['Content-Length', 'content-type', 'Transfer-Encoding', 'Connection', 'Set-Cookie', 'Date', 'ETag'],
      ...['Location', 'X-Request-Id', 'X-Service-Units', 'Acme-Units', 'X-API-Key', 'x_api_key', 'RateLimit'],
      ...['Access-Control-Allow-Origin', 'Proxy-Units', 'no name'],
    ],
    where: 'units_header',
  },
);
