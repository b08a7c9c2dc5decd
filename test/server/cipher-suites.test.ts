// class: app
import { once } from 'node:events';
import { connect, type ConnectionOptions } from 'node:tls';
import t from 'tap';
import { certificate } from '../support/config-certificates.ts';
import { startGateway } from '../support/gateway.ts';

t.test('TLS 1.2 has no cipher suite with CBC, TLS 1.3 is there', async (t) => {
  const { port } = await startGateway(t, { routes: {}, tls: certificate.a });
  const suiteOf = async (options: ConnectionOptions): Promise<string> => {
    const socket = connect({ ...options, port, host: '127.0.0.1', rejectUnauthorized: false });
    t.teardown(() => socket.destroy());
    await once(socket, 'secureConnect');
    return socket.getCipher().name;
  };
  const tls12 = { maxVersion: 'TLSv1.2' } as const;
  for (const ciphers of ['AES128-SHA', 'ECDHE+AES128:!AESGCM:!AESCCM', 'AES256-SHA256:AES128-GCM-SHA256'])
    await t.rejects(suiteOf({ ...tls12, ciphers }), { code: /HANDSHAKE_FAILURE/ }, ciphers);
  t.match(await suiteOf(tls12), /^ECDHE-\w+-(AES\d+-GCM|CHACHA20)/);
  t.match(await suiteOf({}), /^TLS_/);
});
