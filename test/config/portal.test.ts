// class: pure
/** The section `portal`: what it gives, and what is a fault. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { restartNeeded } from '../../src/wiring/restart-needed.ts';
import { configFile, faultsOf, goodConfig } from '../support/config-files.ts';
import { tempFolder } from '../support/process.ts';

const env = { PORTAL_PORT: '8081', PORTAL_URL: 'https://portal.example.com' };

t.test('there is no portal without a port, whatever else is set', async (t) => {
  t.equal(goodConfig().portal, null);
  const CONFIG = configFile(t, 'portal: { url: "https://portal.example.com", name: Example }');
  t.equal(goodConfig({ CONFIG }).portal, null);
});

t.test('a port and an address are enough', async (t) => {
  t.same(goodConfig(env).portal, {
    host: '127.0.0.1',
    port: 8081,
    url: 'https://portal.example.com/',
    name: 'API keys',
    logo: null,
    accent: null,
    links: [],
    frameAncestors: [],
    returnUrls: [],
    sessionMs: 3_600_000,
  });
});

t.test('every setting is read', async (t) => {
  const logo = join(tempFolder(t), 'logo.SVG');
  writeFileSync(logo, '<svg/>');
  const CONFIG = configFile(
    t,
    `
portal:
  port: 1
  host: 10.0.0.1
  url: http://localhost:3000/keys
  name: Example
  logo_file: ${logo}
  accent: "#1D5DC9"
  links: [{ name: Help, url: "mailto:help@example.com" }, { name: Docs, url: "https://docs.example.com/" }]
  frame_ancestors: ["https://app.example.com", "http://localhost:3000"]
  return_urls: ["https://app.example.com", "https://app.example.com/a/../settings"]
  session_s: 60
`,
  );
  t.same(goodConfig({ CONFIG, PORTAL_HOST: '::1', PORTAL_PORT: '0' }).portal, {
    host: '::1',
    port: 0,
    url: 'http://localhost:3000/keys/',
    name: 'Example',
    logo: { type: 'image/svg+xml', base64: Buffer.from('<svg/>').toString('base64') },
    accent: '#1d5dc9',
    links: [
      { name: 'Help', url: 'mailto:help@example.com' },
      { name: 'Docs', url: 'https://docs.example.com/' },
    ],
    frameAncestors: ['https://app.example.com', 'http://localhost:3000'],
    returnUrls: ['https://app.example.com/', 'https://app.example.com/settings'],
    sessionMs: 60_000,
  });
});

t.test('a return address that is only an origin does not begin the name of another host', async (t) => {
  const CONFIG = configFile(t, 'portal: { return_urls: ["https://app.example"] }');
  const { portal } = goodConfig({ CONFIG, ...env });
  t.notOk('https://app.example.org/'.startsWith(portal?.returnUrls[0] ?? ''));
});

t.test('all faults are reported at once', async (t) => {
  const folder = tempFolder(t);
  const logo = join(folder, 'logo.png');
  writeFileSync(logo, Buffer.alloc(256 * 1024 + 1));
  const CONFIG = configFile(
    t,
    `
listen: { port: 8081 }
portal:
  port: 8081
  logo_file: ${logo}
  accent: blue
  links: [{ name: x, url: "javascript:alert(1)" }, { name: x }]
  frame_ancestors: ["*", "https://app.example.com/", "https://a.example;x"]
  return_urls: ["/settings", "https://user@app.example.com/", "https://app.example.com/?x", "//app.example.com"]
  session_s: 59
`,
  );
  const found = faultsOf({ CONFIG }).map(({ where, detail }) => `${where.split(' ')[1]} ${detail}`);
  const expected: [string, RegExp][] = [
    ['portal.port', /must differ from listen\.port/],
    ['portal.url', /is missing/],
    ['portal.logo_file', /larger than 256 KiB/],
    ['portal.accent', /a colour such as/],
    ['portal.links[0].url', /an address such as/],
    ['portal.links[1]', /url is missing/],
    ['portal.frame_ancestors[0]', /an origin/],
    ['portal.frame_ancestors[1]', /an origin/],
    ['portal.frame_ancestors[2]', /an origin/],
    ['portal.return_urls[0]', /an address such as/],
    ['portal.return_urls[1]', /an address such as/],
    ['portal.return_urls[2]', /an address such as/],
    ['portal.return_urls[3]', /an address such as/],
    ['portal.session_s', /at least 60/],
  ];
  for (const [where, detail] of expected)
    t.match(
      found.find((text) => text.startsWith(`${where} `)),
      detail,
      where,
    );
  t.equal(found.length, expected.length, found.join('\n'));
});

t.test('a wrong address is one fault, and is not called missing, too', async (t) => {
  for (const url of ['portal.example.com', 'https://portal.example.com/#x', 'ftp://portal.example.com'])
    t.match(faultsOf({ ...env, PORTAL_URL: url }), [{ where: 'PORTAL_URL', detail: /an address such as/ }]);
  t.match(faultsOf({ PORTAL_PORT: '8081' }), [{ where: 'PORTAL_URL', detail: /is missing/ }]);
});

t.test('its port must differ from both others, unless the addresses differ', async (t) => {
  t.match(faultsOf({ ...env, INTERNAL_PORT: '8081' }), [
    { where: 'PORTAL_PORT', detail: /must differ from internal\.port \(INTERNAL_PORT\)/ },
  ]);
  t.match(faultsOf({ ...env, PORT: '8081', INTERNAL_PORT: '8081' }).length, 3);
  t.same(faultsOf({ ...env, INTERNAL_PORT: '8081', PORTAL_HOST: '127.0.0.2' }), []);
});

t.test('a logo must be a file, and a picture by its name', async (t) => {
  const folder = tempFolder(t);
  writeFileSync(join(folder, 'logo.gif'), 'x');
  for (const [name, detail] of [
    ['logo.gif', /must end with one of \.jpg, \.png, \.svg, \.webp/],
    ['none.png', /there is no such file/],
  ] as const) {
    const CONFIG = configFile(t, `portal: { logo_file: ${join(folder, name)} }`);
    t.match(faultsOf({ CONFIG }), [{ where: /portal\.logo_file/, detail }]);
    t.match(loadConfig({ CONFIG, ...env }, { purpose: 'command' }), { config: { portal: { logo: null } } });
  }
});

t.test('only its address needs a restart', async (t) => {
  const running = goodConfig(env);
  for (const [more, expected] of [
    [{ PORTAL_PORT: '8082' }, ['portal.host, portal.port']],
    [{ PORTAL_HOST: '::1' }, ['portal.host, portal.port']],
    [{ PORTAL_PORT: '' }, ['portal.host, portal.port']],
    [{ PORTAL_URL: 'https://other.example.com' }, []],
    [{ CONFIG: configFile(t, 'portal: { name: Other, accent: "#112233", session_s: 60 }') }, []],
  ] as const)
    t.same(restartNeeded(running, goodConfig({ ...env, ...more })), expected, JSON.stringify(more));
});
