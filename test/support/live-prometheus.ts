/** A Prometheus that scrapes one gateway every second and evaluates the chart's alerts, for tests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { prometheus } from './chart-tools.ts';
import { eventually } from './eventually.ts';
import { readText } from './helm.ts';
import { tempFolder } from './process.ts';
import type { Scope } from './servers.ts';
import { unusedPort } from '../servers/unused-port.mjs';

export interface LivePrometheus {
  /** Waits until this alert fires, or until it does not any more. */
  readonly becomes: (alert: string, state: 'firing' | 'silent') => Promise<void>;
}

/**
 * The rules as the chart has them, but for time: a test cannot wait for minutes. Rates are taken over {@link window}, nothing has
 * to last, and what is old is old after seconds.
 */
function hurried(rules: string): string {
  return rules
    .replaceAll(/\[\d+[mh]\]/g, `[${window}]`)
    .replaceAll(/^( +for:) \d+m$/gm, '$1 0s')
    .replace('tenancy_gateway_usage_lag_seconds > 900', 'tenancy_gateway_usage_lag_seconds > 15')
    .replace(
      '(tenancy_gateway_oldest_snapshot_seconds) > 3600',
      '(tenancy_gateway_oldest_snapshot_seconds) > 1',
    );
}

const window = '20s';

/** @param internalUrl what to scrape */
export async function startPrometheus(t: Scope, internalUrl: string): Promise<LivePrometheus> {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'data'));
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const rules = file('alerts.yaml', hurried(readText('helm/tenancy-gateway/files/alerts.yaml')));
  const targets = [{ targets: [new URL(internalUrl).host], labels: { namespace: 'edge', pod: 'a' } }];
  const config = file(
    'prometheus.yaml',
    stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: [{ job_name: 'gateway', static_configs: targets }],
    }),
  );
  const port = await unusedPort();
  const child = spawn(
    prometheus ?? '',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  t.teardown(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const firing = async (): Promise<string[] | null> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`).catch(() => null);
    if (response?.status !== 200) return null;
    const { data } = (await response.json()) as {
      data: { alerts: { state: string; labels: { alertname: string } }[] };
    };
    return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
  };
  return {
    becomes: (alert, state) =>
      eventually(async () => (await firing())?.includes(alert) === (state === 'firing'), { everyMs: 250 }),
  };
}
