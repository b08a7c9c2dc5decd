import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { render } from '../lib/files.ts';
import { freePort } from '../lib/free-port.ts';
import type { Process, Processes } from '../lib/processes.ts';
import { tool } from '../lib/tools.ts';
import { bodySizes, jsonOf } from './bodies.ts';
import { startHelper, type Helper } from './helper.ts';

/** What every target is in front of. */
export interface Upstream {
  readonly port: number;
  readonly nginx: Process;
  readonly helper: Helper;
  close(): void;
}

/** Starts nginx with fixed responses, and the helper behind it. */
export async function startUpstream(processes: Processes, dir: string, core: number): Promise<Upstream> {
  const port = await freePort();
  const helper = await startHelper();
  mkdirSync(join(dir, 'bytes'));
  for (const [name, size] of Object.entries(bodySizes)) writeFileSync(join(dir, 'bytes', name), jsonOf(size));
  const values = { dir, port, helperPort: helper.port, small: jsonOf(bodySizes['100']) };
  const config = render('upstream/nginx.conf', values, join(dir, 'upstream.conf'));
  const nginx = processes.start({
    name: 'upstream',
    command: tool('nginx'),
    args: ['-p', dir, '-c', config],
    core,
  });
  await nginx.listening(port);
  return { port, nginx, helper, close: () => helper.close() };
}
