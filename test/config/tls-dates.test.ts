// class: pure
import t from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { certificate } from '../support/config-certificates.ts';
import { configFile } from '../support/config-files.ts';

const dayMs = 86_400_000;
const [from, until] = [Date.UTC(2020, 0, 1), Date.UTC(2120, 0, 1)];

t.test(
  'certificates that are not valid now are faults, at a start warnings; those that expire soon are warnings',
  (t) => {
    const key = configFile(t, certificate.a.key, 'a.key');
    const [good, expired, later] = (['a', 'expired', 'later'] as const).map((name) =>
      configFile(t, certificate[name].cert, `${name}.crt`),
    ) as [string, string, string];
    const load = (yaml: string, nowMs = Date.UTC(2026, 0, 1), datesOfCertificates?: 'warning') =>
      loadConfig(
        { CONFIG: configFile(t, yaml) },
        { nowMs, ...(datesOfCertificates && { datesOfCertificates }) },
      );
    const listen = (cert: string) => `listen: {tls: {cert_file: "${cert}", key_file: "${key}"}}`;

    const loaded = load(listen(good));
    t.match(loaded, {
      warnings: [],
      config: { certificates: [{ use: 'listener', route: null, notBeforeMs: from, notAfterMs: until }] },
    });
    t.match(load(listen(expired)), {
      faults: [
        { where: /listen\.tls\.cert_file/, detail: 'the certificate expired at 2021-01-01T00:00:00Z' },
      ],
    });
    t.match(load(listen(later)), {
      faults: [{ where: /cert_file/, detail: 'the certificate is not valid before 2119-01-01T00:00:00Z' }],
    });
    t.match(load(listen(expired), undefined, 'warning'), {
      config: {},
      warnings: [{ where: /cert_file/, detail: /expired at 2021/ }],
    });

    t.match(load(listen(good), until - 15 * dayMs), { warnings: [] });
    t.match(load(listen(good), until - 13.5 * dayMs), {
      warnings: [
        { where: /cert_file/, detail: 'the certificate expires at 2120-01-01T00:00:00Z, in 13 days' },
      ],
    });

    const upstream = (tls: string, url = 'https://a') =>
      `routes: [{prefix: /x, upstream: "${url}", tls: ${tls}}]`;
    t.match(load(upstream(`{ca_file: "${expired}", cert_file: "${later}", key_file: "${key}"}`)), {
      faults: [{ where: /routes\[0\]\.tls\.ca_file/ }, { where: /routes\[0\]\.tls\.cert_file/ }],
    });
    const bundle = configFile(t, `${certificate.expired.cert}\n${certificate.a.cert}\n`, 'bundle.crt');
    t.match(
      load(upstream(`{ca_file: "${bundle}"}`)),
      { warnings: [], config: { certificates: [{ use: 'upstream_ca', route: '/x', notAfterMs: until }] } },
      'a list may keep an authority that was replaced',
    );
    const inherited = `route_defaults: {tls: {ca_file: "${expired}"}}`;
    t.match(load(`${inherited}\nupstream_url: https://a`), {
      faults: [{ where: /route_defaults\.tls\.ca_file/ }],
    });
    t.match(load(`${inherited}\nupstream_url: http://a`), { warnings: [] }, 'nothing is verified by it');
    t.match(loadConfig({ REDIS_URL: `rediss://cache/0?cacert=${expired}` }), {
      faults: [{ where: 'REDIS_URL', detail: /expired/ }],
    });
    t.end();
  },
);
