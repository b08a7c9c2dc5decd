import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { render } from '../lib/files.ts';
import { freePort } from '../lib/free-port.ts';
import { findTool, tool, versionOf } from '../lib/tools.ts';
import type { Contender, Running, Stage } from './target.ts';
import { writeFactTable } from './facts.ts';

/** nginx that knows keys from a static map. */
export const nginxMap: Contender = {
  name: 'nginx-map',
  title: 'nginx, static map of keys',
  enforces: 'key',
  missing: () => (findTool('nginx') === undefined ? 'apt-get install nginx' : undefined),
  version: () => versionOf('nginx', '-v'),
  start(stage) {
    const keys = join(stage.dir, 'keys.map');
    const { parentKey, subAccountKey } = stage.tenants;
    const rows = [parentKey, subAccountKey].map(({ text, accountId }) => `"Bearer ${text}" ${accountId};\n`);
    writeFileSync(keys, rows.join(''));
    return startNginx('nginx-map', stage, { keys });
  },
};

/** nginx with the whole rule in Lua, facts in a shared dictionary. */
export const nginxLua: Contender = {
  name: 'nginx-lua',
  title: 'nginx + Lua, same rule, shared dict',
  enforces: 'acting',
  missing: () => (luaModules() === undefined ? 'apt-get install nginx libnginx-mod-http-lua' : undefined),
  version: () => `${versionOf('nginx', '-v')}, libnginx-mod-http-lua`,
  start: (stage) =>
    startNginx('nginx-lua', stage, {
      modules: luaModules() ?? '',
      facts: writeFactTable(stage.dir, stage.tenants),
      rule: render('targets/nginx-lua.lua', {}, join(stage.dir, 'rule.lua')),
    }),
};

async function startNginx(
  name: string,
  stage: Stage,
  values: Readonly<Record<string, string>>,
): Promise<Running> {
  const { dir, upstreamPort, tenants } = stage;
  const port = await freePort();
  const config = render(
    `targets/${name}.conf`,
    { dir, port, upstreamPort, ...values },
    join(dir, 'nginx.conf'),
  );
  const args = ['-p', dir, '-c', config];
  const nginx = stage.processes.start({ name, command: tool('nginx'), args, core: stage.proxyCore });
  await nginx.listening(port);
  return { port, tenants, proxyPids: [nginx.pid], storePids: [], stop: () => nginx.stop() };
}

/** Debian's switch for modules; the Lua module needs the development kit before it, and the folder has the order. */
function luaModules(): string | undefined {
  const present =
    findTool('nginx') !== undefined && existsSync('/usr/lib/nginx/modules/ngx_http_lua_module.so');
  return present ? '/usr/lib/nginx/modules' : undefined;
}
