// class: chart
/** The portal in the chart: a Service of its own, published at the host that browsers are told. */
import { accepts, chartTest, readYaml, refuses, render, template, type Values } from '../../support/helm.ts';
import { only } from '../../support/manifest.ts';

const minimal = readYaml('helm/tenancy-gateway/ci/minimal.yaml') as Values;
const published = {
  ingress: { enabled: true, hosts: ['api.example.com'] },
  httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] },
};

function values(url: string, portal: object = {}): Values {
  const config = { ...(minimal['config'] as object), portal: { ...(url !== '' && { url }), ...portal } };
  return { ...minimal, config, portal: { enabled: true } };
}

chartTest('without it nothing of it is made', async (t) => {
  const off = { ...values('https://portal.example.com/'), ...published, portal: { enabled: false } };
  for (const given of [{ ...minimal, ...published }, off])
    t.notMatch(template(given).text, /-portal|PORTAL_PORT|name: portal/);
});

chartTest('the Ingress and an HTTPRoute lead the host of its address to it', async (t) => {
  for (const url of ['https://portal.example.com', 'https://portal.example.com:8443/']) {
    const all = render({ ...values(url), ...published });
    const [api, portal] = (only(all, 'Ingress').spec as { rules?: object[] }).rules ?? [];
    t.match(api, { host: 'api.example.com' });
    t.notMatch(JSON.stringify(api), /portal/);
    t.match(portal, {
      host: 'portal.example.com',
      http: { paths: [{ path: '/', backend: { service: { name: 'gw-tenancy-gateway-portal' } } }] },
    });
    const routes = all.filter(({ kind }) => kind === 'HTTPRoute').map(({ spec }) => spec);
    t.match(routes, [
      { rules: [{ backendRefs: [{ name: 'gw-tenancy-gateway' }] }] },
      {
        hostnames: ['portal.example.com'],
        rules: [{ backendRefs: [{ name: 'gw-tenancy-gateway-portal' }] }],
      },
    ]);
  }
});

chartTest('its host is one that Kubernetes takes, and no other rule has', async (t) => {
  const [, portal] =
    (
      only(render({ ...values('https://Portal.Example.com/'), ...published }), 'Ingress').spec as {
        rules?: object[];
      }
    ).rules ?? [];
  t.match(portal, { host: 'portal.example.com' });
  const { ingress, httpRoute } = published;
  const wrong: [string, object, RegExp][] = [
    ['https://192.0.2.1/', { ingress }, /config\.portal\.url: 192\.0\.2\.1 is an IP address/],
    ['https://[2001:db8::1]:8443/', { httpRoute }, /config\.portal\.url: 2001:db8::1 is an IP address/],
    [
      'https://API.example.com/',
      { ingress },
      /config\.portal\.url: api\.example\.com is in ingress\.hosts, too/,
    ],
    [
      'https://api.example.com/',
      { httpRoute: { ...httpRoute, hostnames: ['api.example.com'] } },
      /config\.portal\.url: api\.example\.com is in httpRoute\.hostnames, too/,
    ],
  ];
  for (const [url, more, complaint] of wrong) refuses(t, { ...values(url), ...more }, complaint);
  accepts(t, values('https://192.0.2.1/'), 'an address that is not published');
  accepts(t, { ...values('https://api.example.com/portal/'), ingress }, 'a path');
});

chartTest('an address with a path is left to a proxy that removes it', async (t) => {
  const all = render({ ...values('https://example.com/portal/'), ...published });
  t.equal((only(all, 'Ingress').spec as { rules?: object[] }).rules?.length, 1);
  t.equal(only(all, 'HTTPRoute').metadata.name, 'gw-tenancy-gateway');
});

chartTest('what it lacks is said before anything is installed', async (t) => {
  const wrong: [Values, RegExp][] = [
    [values(''), /config\.portal\.url: say where browsers find the portal/],
    [values('portal.example.com'), /config\.portal\.url: say where browsers find the portal/],
    [
      values('https://portal.example.com', { logo_file: '/brand/logo.png' }),
      /config\.portal\.logo_file: no extraVolumeMounts has \/brand\/logo\.png/,
    ],
    [
      { ...minimal, extraEnv: [{ name: 'PORTAL_PORT', value: '1' }] },
      /PORTAL_PORT is set by the chart; use .*portal\.enabled/,
    ],
  ];
  for (const [value, complaint] of wrong) refuses(t, value, complaint);
});
