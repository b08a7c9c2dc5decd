// class: app
import t from 'tap';
import { startApis } from '../support/apis.ts';
import { embeddedStore } from '../support/embedded.ts';
import { basic } from '../support/credential-forms.ts';
import { startGateway, startProxied } from '../support/gateway.ts';
import { openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';

const schemes = ['Bearer', 'Basic'] as const;

/** Values that two readers of `Basic` could take for different credentials; each holds a key that is known. */
function hostile(key: string, other: string): Readonly<Record<string, string>> {
  const good = basic(`${key}:`);
  return {
    'two keys': basic(`${key}:${other}`),
    'the same key twice': basic(`${key}:${key}`),
    'a key with a password': basic(`${key}:x`),
    'no colon': basic(key),
    'no padding': basic(`ab:${key}`).replace(/=+$/, ''),
    'more padding': `${good}=`,
    'bits behind the last byte': basic(`ab:${key}`).replace(/.(?==+$)/, (last) =>
      String.fromCharCode(last.charCodeAt(0) + 1),
    ),
    'base64 for URLs': basic(`???:${key}`).replaceAll('/', '_'),
    'a space within': good.replace(/(?<=^.{20})/, ' '),
    'a tab within': good.replace(/(?<=^.{20})/, '\t'),
    'text behind a comma': `${good}, x`,
    'a parameter': `${good}; charset="UTF-8"`,
    'quotes around it': good.replace(/ (.*)/, ' "$1"'),
    'a NUL before the colon': basic(`a\0b:${key}`),
    'a line break before the colon': basic(`a\r\nX-Service-Caller-Key: 1:${key}`),
    'a NUL behind the key': basic(`${key}\0:`),
    'a DEL behind the key': basic(`:${key}\x7f`),
    'a user name of 8 KB': basic(`${'u'.repeat(8_000)}:${key}`),
  };
}

t.test('Basic credentials that can be read in two ways are 401 and reach no upstream', async (t) => {
  const { upstream, call, directory, parent } = await startProxied(t, {
    route: { passAuthorization: true },
    schemes,
  });
  const other = directory.addParent();
  t.equal(
    (await call('GET', '/', { key: null, headers: [['Authorization', basic(`${parent.key}:`)]] })).status,
    200,
  );
  for (const [what, value] of Object.entries(hostile(parent.key, other.key))) {
    const response = await call('GET', '/', { key: null, headers: [['Authorization', value]] });
    t.equal(response.status, 401, what);
    t.equal(response.headers['www-authenticate'], 'Bearer\nBasic realm="api"', what);
  }
  t.equal(upstream.heads, 1);
});

t.test('nor on an upgrade, nor on a management call', async (t) => {
  const webSockets = await startWebSocketUpstream(t);
  const { port, parent, directory } = await startGateway(t, { routes: { '/': webSockets.url }, schemes });
  for (const [what, authorization] of Object.entries(hostile(parent.key, directory.addParent().key)))
    await t.rejects(openWebSocket(t, port, '/', { authorization }), /401/, what);
  t.equal(webSockets.handshakes.length, 0);

  const apis = await startApis(t, { store: await embeddedStore(t), schemes });
  const [{ key }, other] = [await apis.parent(), await apis.parent()];
  const list = (value: string) => apis.call('GET', '/v1/sub-accounts', { headers: { Authorization: value } });
  t.match(await list(basic(`api:${key}`)), { status: 200 });
  for (const [what, value] of Object.entries(hostile(key, other.key)))
    t.match(await list(value), { status: 401 }, what);
});

t.test('a user name gives no rights: only the key beside it says who calls', async (t) => {
  const { upstream, call, directory, parent } = await startProxied(t, { schemes });
  const other = directory.addParent();
  for (const user of [other.id, other.keyId, 'admin', ''])
    t.equal(
      (await call('GET', '/', { key: null, headers: [['Authorization', basic(`${user}:${parent.key}`)]] }))
        .headers['x-service-resolved-tenant'],
      parent.id,
    );
  t.strictSame(
    upstream.received.map((one) => one.values('x-service-caller-tenant')[0]),
    Array(4).fill(parent.id),
  );
});
