/** Copies the example services into `.cache/services`, with the packages that their manifests name, as a user would. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findTool } from '../../../bench/lib/tools.ts';
import { installedOnce, Missing } from '../../support/installed-once.ts';

const execute = promisify(execFile);
const examples = fileURLToPath(new URL('../../../examples/services/', import.meta.url));
const cache = fileURLToPath(new URL('../../../.cache/services/', import.meta.url));
const register = fileURLToPath(new URL('../../../scripts/typescript/register.mjs', import.meta.url));

/** How a service is started. */
export interface BuiltService {
  readonly command: string;
  readonly args: (port: number) => readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** 127.0.0.1 alone, as the service writes it. */
  readonly gateways: string;
}

/** The services by language and framework. @throws Missing where the machine lacks something */
export const services: Readonly<Record<string, () => Promise<BuiltService>>> = {
  Fastify: () => typescript('fastify'),
  Express: () => typescript('express'),
  Hono: () => typescript('hono'),
  'Python (ASGI)': () =>
    python((port) => ['uvicorn', 'service:app', `--port=${port}`, '--log-level=error', '--no-proxy-headers']),
  'Python (WSGI, Flask)': () => python(gunicorn('flask_service:app')),
  'Python (WSGI, Django)': () => python(gunicorn('django_service:application')),
  'Ruby (Rack)': ruby,
  'Go (net/http)': go,
  'Java (servlet)': java,
};

async function typescript(framework: string): Promise<BuiltService> {
  const cwd = await copied('typescript', 'package.json', 'access to the npm registry', async (folder) => {
    await execute('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder });
  });
  const args = () => ['--import', register, 'service.mjs'];
  return { command: process.execPath, args, cwd, env: { FRAMEWORK: framework }, gateways: '127.0.0.1' };
}

const gunicorn = (application: string) => (port: number) =>
  ['gunicorn', application, `--bind=127.0.0.1:${port}`, '--threads=2', '--log-level=error'] as const;

async function python(server: (port: number) => readonly string[]): Promise<BuiltService> {
  const tool = findTool('python3');
  if (tool === undefined) throw new Missing('python3');
  const needs = 'Python 3.10 with venv, and access to PyPI';
  const cwd = await copied('python', 'requirements.txt', needs, async (folder) => {
    await execute(tool, ['-m', 'venv', '--clear', join(folder, 'venv')]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', 'requirements.txt'];
    await execute(join(folder, 'venv/bin/python'), pip, { cwd: folder });
  });
  const args = (port: number) => ['-m', ...server(port)];
  return { command: join(cwd, 'venv/bin/python'), args, cwd, env: {}, gateways: '127.0.0.1' };
}

/** With the packages of Debian and Ubuntu, so that no gem is asked for. */
async function ruby(): Promise<BuiltService> {
  const [tool, puma] = [findTool('ruby'), findTool('puma')];
  const needs = 'Ruby 3 with Puma, Rack and pg (apt-get install ruby puma ruby-rack ruby-pg)';
  if (!tool || !puma) throw new Missing(needs);
  const cwd = await copied('ruby', 'config.ru', needs, async () => {
    await execute(tool, ['-e', 'require "pg"; require "rack"']);
  });
  const quiet = ['--quiet', '--environment', 'production', '--threads', '2:2'];
  const args = (port: number) => [...quiet, '--bind', `tcp://127.0.0.1:${port}`];
  return { command: puma, args, cwd, env: {}, gateways: '127.0.0.1' };
}

async function go(): Promise<BuiltService> {
  const tool = findTool('go');
  if (tool === undefined) throw new Missing('Go 1.22');
  const cwd = await copied('go', 'go.sum', 'access to the Go module proxy', async (folder) => {
    await execute(tool, ['mod', 'download'], { cwd: folder });
  });
  const env = { ...process.env, GOTOOLCHAIN: 'local' };
  await execute(tool, ['vet', './...'], { cwd, env });
  await execute(tool, ['build', '-o', 'service', '.'], { cwd, env });
  return { command: join(cwd, 'service'), args: () => [], cwd, env: {}, gateways: '127.0.0.1/32' };
}

async function java(): Promise<BuiltService> {
  const [run, compiler, maven] = [findTool('java'), findTool('javac'), findTool('mvn')];
  if (!run || !compiler || !maven) throw new Missing('a JDK from 17 on, and Maven');
  const cwd = await copied('java', 'pom.xml', 'access to Maven Central', async (folder) => {
    await execute(maven, ['-q', 'dependency:copy-dependencies', '-DoutputDirectory=lib'], { cwd: folder });
  });
  const classPath = `${join(cwd, 'lib')}/*`;
  await execute(compiler, ['-d', 'classes', '-cp', classPath, 'TenantFilter.java', 'Service.java'], { cwd });
  const args = () => ['-cp', `classes:${classPath}`, '-Djava.util.logging.config.file=/dev/null', 'Service'];
  return { command: run, args, cwd, env: {}, gateways: '127.0.0.1' };
}

/** The copy of a service, installed once for each state of its manifest. A failure is {@link Missing} what it needs. */
async function copied(
  name: string,
  manifest: string,
  needs: string,
  install: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(cache, name);
  mkdirSync(folder, { recursive: true });
  cpSync(join(examples, name), folder, { recursive: true });
  const wanted = readFileSync(join(examples, name, manifest), 'utf8');
  await installedOnce(folder, wanted, needs, () => install(folder));
  return folder;
}
