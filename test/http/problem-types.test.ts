// class: app
import t from 'tap';
import { startApis } from '../support/apis.ts';
import { startGateway } from '../support/gateway.ts';
import { rawClient } from '../support/raw-client.ts';
import { startTcpUpstream } from '../support/upstreams.ts';

const problemTypeBase = 'https://docs.example.com/errors/';

t.test('every problem of the public listener has a type of the configured kind', async (t) => {
  const reset = await startTcpUpstream(t, (socket) => socket.resetAndDestroy());
  const { call, dial } = await startGateway(t, { routes: { '/': reset.url }, problemTypeBase });
  const types: unknown[] = [];
  const ask = async (...args: Parameters<typeof call>): Promise<void> => {
    types.push((JSON.parse((await call(...args)).body) as { type: string }).type);
  };
  await ask('GET', '/', { key: null });
  await ask('GET', '/');
  await ask('GET', '/../');
  await ask('GET', '/v1/sub-accounts', { key: null });
  await ask('GET', '/v1/sub-accounts/%ff');
  const malformed = await dial('GET / HTTP/1.1\r\nbroken\r\n\r\n');
  types.push((JSON.parse((await malformed.response()).body) as { type: string }).type);
  t.strictSame(
    types,
    [
      'unauthenticated',
      'upstream_unreachable',
      'invalid_target',
      'unauthenticated',
      'invalid_target',
      'invalid_request',
    ].map((code) => problemTypeBase + code),
  );
});

t.test('and so has every problem of the internal listener', async (t) => {
  const { operator, internalOrigin } = await startApis(t, { problemTypeBase });
  t.match(await operator('GET', '/accounts', { key: 'wrong' }), {
    body: { type: `${problemTypeBase}unauthenticated` },
  });
  t.match(await operator('GET', '/nothing'), { body: { type: `${problemTypeBase}not_found` } });
  const malformed = await rawClient(t, Number(new URL(internalOrigin).port));
  malformed.send('GET / HTTP/1.1\r\nbroken\r\n\r\n');
  t.match(JSON.parse((await malformed.response()).body), { type: `${problemTypeBase}invalid_request` });
});
