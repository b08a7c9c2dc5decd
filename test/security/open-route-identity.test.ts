// class: app
import t from 'tap';
import { foldHeaderName } from '../../src/domain/header-names.ts';
import { startGateway, startProxied } from '../support/gateway.ts';
import { separators, trustedNames } from '../support/header-spellings.ts';
import { startUpstream } from '../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';

const open = { perSecond: 10_000 };

for (const client of ['native', 'undici'] as const) {
  t.test(`${client}: an open route's upstream gets no trusted header in any spelling`, async (t) => {
    const { upstream, call, parent } = await startProxied(t, { route: { client, open } });
    for (const separator of separators) {
      const headers = trustedNames.map((name): [string, string] => [
        name.replaceAll('-', separator),
        'forged',
      ]);
      headers.push([`X-Service${separator}Anything`, 'forged'], ['X-Service-Acting-Tenant', 'self']);
      for (const key of [null, parent.key]) {
        const { status } = await call('POST', '/', { key, headers, body: 'a body' });
        t.equal(status, 200, separator);
        const { rawHeaders = [] } = upstream.received.at(-1) ?? {};
        t.notOk(rawHeaders.includes('forged'), separator);
        const names = rawHeaders.filter((_, i) => i % 2 === 0).map(foldHeaderName);
        t.strictSame(
          names.filter((name) => name.startsWith('x-service')),
          [],
          separator,
        );
      }
    }
  });

  t.test(`${client}: no trusted header that the upstream made up reaches its client`, async (t) => {
    const upstream = await startUpstream(t, (_request, response) =>
      response
        .writeHead(200, { 'x-service-resolved-tenant': 'forged', x_service_caller_key: 'forged' })
        .end(),
    );
    const { call } = await startGateway(t, { routes: { '/': { upstream: upstream.url, client, open } } });
    const { headers } = await call('GET', '/', { key: null });
    t.notOk(Object.values(headers).includes('forged'));
  });
}

t.test('the handshake of a WebSocket to an open route carries no trusted header either', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': { upstream: upstream.url, open } } });
  const forged = Object.fromEntries(trustedNames.map((name) => [name.replaceAll('-', '.'), 'forged']));
  const client = await openWebSocket(t, port, '/', { ...forged, Authorization: `Bearer ${parent.key}` });
  const { rawHeaders = [] } = upstream.handshakes[0] ?? {};
  t.notOk(
    rawHeaders.some((text) => /forged|^x-service|^authorization$/i.test(text) || text.includes(parent.key)),
  );
  client.socket.close();
});
