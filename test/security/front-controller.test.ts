// class: app
import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams.ts';

/** What of a path a front controller serves: the part behind the script (`PATH_INFO`). */
const behind = (script: RegExp) => (path: string) => path.replace(script, '');
/** Ruby on Rails, Spring, Struts: the name without the suffix of a format. */
const withoutFormat = (path: string) => path.replace(/\.[a-z]\w*(?=\/?$)/i, '');
/** Apache's MultiViews: the file `admin.php` for `/admin`. */
const multiViews = (path: string) => path.replace(/\.php(?=\/)/, '');
const session = /\((?:[A-Z]\([^()]*\))+\)/;
/** Windows opens `administration` as `ADMINI~1`, and `admin` itself as `admin::$DATA`. */
const ntfs = (path: string) =>
  path.replace(/(:[^/:]*)?:\$\w+(?=\/|$)/g, '').replace(/\/adm(?:ini|00c8)~\d/i, '/administration');

/** The path that is sent, and what the product makes of it. None of it is the code under test. */
const served: Readonly<
  Record<string, readonly [read: (path: string) => string, targets: readonly string[]]>
> = {
  'PHP: Symfony, Laravel, Slim, WordPress': [
    behind(/^.*?\.php(?=\/)/i),
    [
      ...['/index.php/admin', '/index.php/admin/secret', '/Index.PHP/admin/x', '/shop/index.php/admin/x'],
      ...['/a/b/app_dev.php/admin/x', '/index.php//admin/x', '/index.php/Admin/x', '/free/index.php/admin'],
    ],
  ],
  'PHP behind a decoding server': [
    (path) => decodeURIComponent(path).replace(/^.*?\.php(?=\/)/i, ''),
    ['/index%2Ephp/admin', '/index.php%2Fadmin', '/index.php/%61dmin/x', '/%69ndex.php/admin'],
  ],
  'two scripts': [behind(/^.*\.php(?=\/)/i), ['/index.php/index.php/admin', '/x.php/y/index.php/admin']],
  'the script beside the path': [behind(/\/\w+\.php(?=\/)/), ['/admin.php/admin/x', '/x.php/admin']],
  'a script with parameters, or as Windows writes it': [
    behind(/^.*?\.php[^/]*(?=\/)/i),
    ['/index.php;v=1/admin', '/index.php./admin', '/index.php%20/admin', '/index.php::$DATA/admin'],
  ],
  'CGI, FastCGI, WSGI': [
    behind(/^.*?(?:\.(?:fcgi|cgi|pl|py|wsgi|rb|lua)|cgi-bin\/\w+)(?=\/)/),
    [
      ...['/mt.cgi/admin', '/dispatch.fcgi/admin/x', '/app.pl/admin', '/app.py/admin', '/app.wsgi/admin'],
      ...['/cgi-bin/app/admin', '/x/cgi-bin/app.cgi/admin', '/dispatch.rb/admin', '/app.lua/admin'],
    ],
  ],
  'ASP.NET, Java, ColdFusion, Domino': [
    behind(/^.*?\.(?:aspx?|ashx|asmx|svc|dll|jspx?|do|action|cfm|nsf)(?=\/)/),
    [
      ...['/x.aspx/admin', '/x.asp/admin', '/x.ashx/admin', '/x.asmx/admin', '/x.svc/admin', '/x.dll/admin'],
      ...['/x.jsp/admin', '/x.jspx/admin', '/x.do/admin', '/x.action/admin', '/x.cfm/admin', '/x.nsf/admin'],
    ],
  ],
  MultiViews: [multiViews, ['/admin.php/secret', '/admin.php/index.php/x']],
  'Next.js, Gatsby': [
    (path) => withoutFormat(path).replace(/^.*?\/(?:_next\/data\/[^/]+|page-data)(?=\/)/, ''),
    ['/_next/data/build/admin.json', '/_next/data/b/admin/x.json', '/page-data/admin/page-data.json'],
  ],
  'Next.js, React Router': [
    (path) => path.replace(/\.(?:rsc|data|txt|segments\/.*)$/, ''),
    ['/admin.rsc', '/admin.data', '/admin.txt', '/admin.segments/_tree.segment.rsc'],
  ],
  'the base path of a site': [
    behind(/\/_next\/data\/\w+|\/\w+\.php(?=\/)/),
    ['/admin/index.php/x', '/nested/index.php/admin', '/nested/_next/data/b/admin.json'],
  ],
  'Rails, Spring, Django REST framework, Struts': [
    (path) => withoutFormat(path.replace(/;[^/]*/g, '')),
    ['/admin.json', '/admin.JSON', '/admin.xml/', '/admin.do', '/admin.do;jsessionid=1', '/admin.a-b.json'],
  ],
  OData: [(path) => path.replace(/\(\d+\)/, '/1'), ['/admin(1)', '/admin(1)/secret']],
  'ASP.NET without cookies': [
    (path) => path.replace(session, '').replaceAll('//', '/'),
    ['/(S(x))/admin', '/(S(x))/admin/x', '/adm(S(x))in/x', '/(X(1)S(y)F(z))/admin', '/(s(x))/Admin'],
  ],
  'ASP.NET, its slash included': [
    (path) => path.replace(/\/\(S\(x\)\)/, ''),
    ['/adm/(S(x))in/secret', '/(S(x))/admin/secret'],
  ],
  'IIS, NTFS': [
    ntfs,
    [
      ...[
        '/admin::$DATA',
        '/admin::$INDEX_ALLOCATION/x',
        '/admin:$i30:$INDEX_ALLOCATION/x',
        '/admin%3A:$DATA',
      ],
      ...['/ADMINI~1/x', '/admini~12', '/ad00c8~1/x', '/administration::$DATA'],
    ],
  ],
  'Zope, Plone': [
    (path) => path.replace(/\/VirtualHostBase.*VirtualHostRoot|\/\+\+\w+\+\+\w*/, ''),
    ['/VirtualHostBase/https/a:443/x/VirtualHostRoot/admin', '/++skin++x/admin'],
  ],
};

const asks = { read: 'admin:read', write: null };

t.test('no path brings a caller to a scoped route through the service behind another one', async (t) => {
  const upstream = await startUpstream(t);
  const guarded = { upstream: upstream.url, scopes: asks };
  const { call } = await startGateway(t, {
    routes: {
      ...{ '/': upstream.url, '/free': upstream.url },
      ...{ '/admin': guarded, '/administration': guarded, '/nested/admin': guarded },
    },
  });
  for (const [product, [read, targets]] of Object.entries(served)) {
    for (const target of targets) {
      if (!target.includes('~'))
        t.match(decodeURIComponent(read(target)), /\/admin/i, `${product} reads ${target}`);
      const { status, body } = await call('GET', target);
      if (target.startsWith('/admin/')) t.equal(status, 403, target);
      else t.ok(status === 400 && body.includes('/admin'), `${product}: ${target} ${status}`);
    }
  }
  t.equal(upstream.heads, 0);
});

t.test(
  'paths of scripts, of formats and with dots, brackets and colons pass where no route asks for more',
  async (t) => {
    const upstream = await startUpstream(t);
    const { call } = await startGateway(t, {
      routes: {
        '/': upstream.url,
        '/admin': { upstream: upstream.url, scopes: asks },
        '/docs': upstream.url,
      },
    });
    for (const target of [
      ...[
        '/index.php',
        '/index.php/',
        '/shop/cart.php?x=/admin',
        '/index.php/catalog/5',
        '/index.php/docs/1',
      ],
      ...['/docs/index.php/x', '/docs.json', '/x.php/administrators', '/index.php/x/admin', '/cgi-bin/app'],
      ...[
        '/report.json',
        '/administrators.json',
        '/admin2.json',
        '/v1.2/admin',
        '/x/admin.json',
        '/files/admin.php',
      ],
      ...[
        '/users/ada@example.com/keys',
        '/domains/onet.pl/dns',
        '/repos/next.js/issues',
        '/_next/static/x.js',
      ],
      ...[
        '/Products(1)/x',
        '/f(a(b))/x',
        '/$metadata',
        '/admin:export',
        '/a:b/c',
        '/~ada/x',
        '/adm~1',
        '/x~1/admin',
      ],
      ...['/_next/data/build/index.json', '/_next/data/build/docs.json', `/${'a.b/'.repeat(100)}x`],
      `/index.php/${'x'.repeat(5000)}`,
    ]) {
      t.equal((await call('GET', target)).status, 200, target);
      t.equal(upstream.received.at(-1)?.target, target);
    }
  },
);

t.test(
  'a key, another scope and a lower limit are more; another upstream or a route for the script are not',
  async (t) => {
    const upstream = await startUpstream(t);
    const other = await startUpstream(t);
    const open = (perSecond: number) => ({ upstream: upstream.url, open: { perSecond } });
    const { call } = await startGateway(t, {
      routes: {
        '/': upstream.url,
        '/open': open(1000),
        '/slow': open(10),
        '/sso/module.php': open(1000),
        '/read': { upstream: upstream.url, scopes: { read: 'tracking:read', write: null } },
        '/write': { upstream: upstream.url, scopes: { read: 'tracking:read', write: 'tracking:write' } },
        '/elsewhere': { upstream: other.url, scopes: { read: 'unheld', write: null } },
      },
    });
    for (const [from, to, status] of [
      ['/open', '/x', 400],
      ['/open', '/slow', 400],
      ['/open', '/open/x', 200],
      ['/slow', '/open', 200],
      ['/read', '/write', 400],
      ['/write', '/read', 200],
      ['/read', '/x', 200],
      ['/read', '/open', 200],
      ['', '/elsewhere', 200],
      ['/elsewhere', '/read', 403],
      ['/sso/module.php', '/x', 200],
      ['/sso', '/read', 400],
    ] as const)
      t.equal((await call('GET', `${from}/index.php${to}`)).status, status, `${to} through ${from}`);
  },
);
