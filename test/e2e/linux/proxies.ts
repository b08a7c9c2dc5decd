/** The proxies of `examples/linux`, on the ports and with the certificate of a test. */
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findTool } from '../../../bench/lib/tools.ts';
import { certificate } from '../../support/config-certificates.ts';
import { withPorts } from '../../support/example-ports.ts';
import { readText } from '../../support/helm.ts';
import type { GatewayProcess } from '../../support/process.ts';

/** Where the proxy of a test listens, and what is behind it. */
export interface Setting {
  readonly folder: string;
  readonly port: number;
  /** Another free port. */
  readonly healthPort: number;
  readonly gateways: readonly GatewayProcess[];
  readonly publicUrl: string;
}

export interface FrontProxy {
  readonly name: string;
  /** Its path; `undefined` if this machine has none. */
  readonly program: string | undefined;
  /** Writes its files. Returns the arguments that run it in the foreground. */
  readonly prepare: (setting: Setting) => readonly string[];
  /**
   * It sends requests to an instance without asking whether that is ready: a request can meet it as it closes its port, or as it
   * listens without a lease yet (docs/linux.md).
   */
  readonly asksNothing?: true;
  /** The arguments that only check the files. */
  readonly check?: (args: readonly string[]) => readonly string[];
}

const brought = fileURLToPath(new URL('../../../.cache/tools/proxies/bin/', import.meta.url));

/** As the machine has it, or as scripts/ci-tools.sh brings it. */
function programOf(name: string): string | undefined {
  return existsSync(brought + name) ? brought + name : findTool(name);
}

export const proxies: readonly FrontProxy[] = [
  {
    name: 'nginx',
    program: programOf('nginx'),
    prepare: nginx,
    check: (args) => ['-t', ...args],
    asksNothing: true,
  },
  {
    name: 'HAProxy',
    program: programOf('haproxy'),
    prepare: (setting) => ['-db', '-f', example(setting, 'haproxy.cfg')],
    check: (args) => ['-c', ...args],
  },
  { name: 'Caddy', program: programOf('caddy'), prepare: caddy },
  { name: 'Traefik', program: programOf('traefik'), prepare: traefik },
  {
    name: 'Envoy',
    program: programOf('envoy'),
    prepare: (setting) => [
      '--disable-hot-restart',
      '--concurrency',
      '1',
      '-c',
      example(setting, 'envoy.yaml'),
    ],
    check: (args) => ['--mode', 'validate', ...args],
  },
];

function nginx(setting: Setting): readonly string[] {
  const { folder } = setting;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
  writeFileSync(
    `${folder}/main.conf`,
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/errors; worker_processes 1; events {}
    http { access_log off; ${paths} include ${example(setting, 'nginx.conf')}; }`,
  );
  return ['-c', `${folder}/main.conf`, '-e', `${folder}/errors`];
}

function caddy(setting: Setting): readonly string[] {
  const site = `{\n  admin off\n  auto_https off\n}\nhttps://api.example.com:${setting.port}`;
  const file = example(setting, 'Caddyfile', (text) =>
    text.replace(/^api\.example\.com/m, site).replace('    tls ', '    bind 127.0.0.1\n    tls '),
  );
  return ['run', '--adapter', 'caddyfile', '--config', file];
}

function traefik(setting: Setting): readonly string[] {
  const file = example(setting, 'traefik-tenancy-gateway.yaml');
  const main = example(setting, 'traefik.yaml', (text) =>
    text.replace('/etc/traefik/tenancy-gateway.yaml', file).replace("address: ':", "address: '127.0.0.1:"),
  );
  return [`--configFile=${main}`];
}

/** Writes an example with the ports and the certificate of a test. Returns its path. */
function example(setting: Setting, name: string, more = (text: string): string => text): string {
  const { folder, port, gateways } = setting;
  writeFileSync(`${folder}/tls.crt`, certificate.a.cert);
  writeFileSync(`${folder}/tls.key`, certificate.a.key);
  writeFileSync(`${folder}/tls.pem`, `${certificate.a.cert}\n${certificate.a.key}\n`);
  const [one, two] = gateways;
  const text = withPorts(readText(`examples/linux/${name}`), {
    443: port,
    3100: portOf(setting.publicUrl),
    8070: setting.healthPort,
    8080: portOf(one?.url),
    8081: portOf(two?.url),
    18080: portOf(one?.internalUrl),
    18081: portOf(two?.internalUrl),
  })
    // Without the right to open as many files as that takes.
    .replace('maxconn 20000', 'maxconn 1000')
    .replaceAll('/etc/ssl/api.example.com', `${folder}/tls`)
    .replace('listen ', 'listen 127.0.0.1:')
    .replace('bind :', 'bind 127.0.0.1:')
    .replace('0.0.0.0', '127.0.0.1');
  writeFileSync(`${folder}/${name}`, more(text));
  return `${folder}/${name}`;
}

function portOf(url = ''): string {
  return new URL(url).port;
}
