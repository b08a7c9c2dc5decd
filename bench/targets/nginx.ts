import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { render } from '../lib/files.ts';
import { freePort } from '../lib/free-port.ts';
import { findTool, tool, versionOf } from '../lib/tools.ts';
import type { Target, Running, TargetEnvironment } from './target.ts';
import { writeFactTable } from './facts.ts';

/** nginx that knows keys from a static map. */
export const nginxMap: Target = {
  name: 'nginx-map',
  title: 'nginx, static map of keys',
  enforces: 'key',
  missing: () => (findTool('nginx') === undefined ? 'apt-get install nginx' : undefined),
  version: () => versionOf('nginx', '-v'),
  start(environment) {
    const keys = join(environment.dir, 'keys.map');
    const { parentKey, subAccountKey } = environment.tenants;
    const rows = [parentKey, subAccountKey].map(({ text, accountId }) => `"Bearer ${text}" ${accountId};\n`);
    writeFileSync(keys, rows.join(''));
    return startNginx('nginx-map', environment, { keys });
  },
};

/** nginx with the whole rule in Lua, facts in a shared dictionary. */
export const nginxLua: Target = {
  name: 'nginx-lua',
  title: 'nginx + Lua, same rule, shared dict',
  enforces: 'acting',
  missing: () => (luaModules() === undefined ? 'apt-get install nginx libnginx-mod-http-lua' : undefined),
  version: () => `${versionOf('nginx', '-v')}, libnginx-mod-http-lua`,
  start: (environment) =>
    startNginx('nginx-lua', environment, {
      modules: luaModules() ?? '',
      facts: writeFactTable(environment.dir, environment.tenants),
      rule: render('targets/nginx-lua.lua', {}, join(environment.dir, 'rule.lua')),
    }),
};

async function startNginx(
  name: string,
  environment: TargetEnvironment,
  values: Readonly<Record<string, string>>,
): Promise<Running> {
  const { dir, upstreamPort, tenants } = environment;
  const port = await freePort();
  const config = render(
    `targets/${name}.conf`,
    { dir, port, upstreamPort, ...values },
    join(dir, 'nginx.conf'),
  );
  const args = ['-p', dir, '-c', config];
  const nginx = environment.processes.start({
    name,
    command: tool('nginx'),
    args,
    core: environment.proxyCore,
  });
  await nginx.listening(port);
  return { port, tenants, proxyPids: [nginx.pid], storePids: [], stop: () => nginx.stop() };
}

/** Debian's switch for modules; the Lua module needs the development kit before it, and the folder has the order. */
function luaModules(): string | undefined {
  const present =
    findTool('nginx') !== undefined && existsSync('/usr/lib/nginx/modules/ngx_http_lua_module.so');
  return present ? '/usr/lib/nginx/modules' : undefined;
}
