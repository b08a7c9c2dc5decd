// class: pure
import { join } from 'node:path';
import t from 'tap';
import { certificate } from '../support/config-certificates.ts';
import { configFile, faultsOf, goodConfig } from '../support/config-files.ts';

t.test('certificates and keys must be there, be PEM and belong together', (t) => {
  const write = (name: string, text: string): string => configFile(t, text, name);
  const cert = write('a.crt', certificate.a.cert);
  const key = write('a.key', certificate.a.key);
  const otherKey = write('b.key', certificate.b.key);
  const noPem = write('no.pem', 'no PEM at all');
  const missing = join(t.testdir(), 'missing');
  const listen = (certFile: string, keyFile: string): string =>
    configFile(t, `listen: {tls: {cert_file: "${certFile}", key_file: "${keyFile}"}}`);

  t.same(goodConfig({ CONFIG: listen(cert, key) }).listen.tls, { certFile: cert, keyFile: key });
  t.match(faultsOf({ CONFIG: listen(cert, otherKey) }), [
    { where: /listen\.tls\.key_file/, detail: /not the key/ },
  ]);
  t.match(faultsOf({ CONFIG: listen(missing, noPem) }), [
    { where: /listen\.tls\.cert_file/, detail: /no such file/ },
    { where: /listen\.tls\.key_file/, detail: /not PEM/ },
  ]);

  const upstream = (tls: string, url = 'https://a'): string =>
    configFile(t, `routes: [{prefix: /, upstream: "${url}", tls: ${tls}}]`);
  t.same(
    faultsOf({ CONFIG: upstream(`{ca_file: "${cert}", cert_file: "${cert}", key_file: "${key}"}`) }),
    [],
  );
  t.match(faultsOf({ CONFIG: upstream(`{ca_file: "${noPem}"}`) }), [{ where: /ca_file/, detail: /not PEM/ }]);
  t.match(faultsOf({ CONFIG: upstream(`{ca_file: "${key}"}`) }), [{ detail: /not PEM/ }]);
  t.match(faultsOf({ CONFIG: upstream(`{cert_file: "${cert}"}`) }), [{ detail: /needs its key/ }]);
  t.match(faultsOf({ CONFIG: upstream(`{ca_file: "${cert}"}`, 'http://a') }), [{ detail: /https/ }]);

  const redis = (query: string) => faultsOf({ REDIS_URL: `rediss://:secret@cache/0?${query}` });
  t.same(redis(`cacert=${cert}&cert=${cert}&key=${key}`), []);
  t.match(redis(`cacert=${missing}`), [{ where: /REDIS_URL/, detail: /cacert: there is no such file/ }]);
  t.match(redis(`cacert=${key}`), [{ detail: /cacert: .*not PEM/ }]);
  t.match(redis(`cert=${cert}&key=${otherKey}`), [{ detail: /key: is not the key/ }]);
  t.end();
});
