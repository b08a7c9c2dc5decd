import { resolve } from 'node:path';
import { targets } from './targets/all.ts';
import type { Target } from './targets/target.ts';
import { gatewayBuiltAt, gatewayWithAccessLog } from './targets/gateway.ts';
import { StartedTargets } from './started-targets.ts';
import { inEnvironment } from './environment.ts';
import { buildPaced, pacedMissing } from './load/paced.ts';
import { describeMachine } from './machine.ts';
import { measureCase, type Result } from './measure.ts';
import type { Options } from './options.ts';
import type { TargetRecord, RunRecord } from './report/record.ts';
import type { Case } from './scenarios/scenario.ts';

/** Brings the targets up, measures every case on all of them in turn, and takes them down again. */
export function compare(
  options: Options,
  cases: readonly Case[],
  say: (line: string) => void,
): Promise<RunRecord> {
  const [machine, began] = [describeMachine(), new Date()];
  return inEnvironment(options, async (environment) => {
    if (pacedMissing() === undefined) buildPaced();
    const started = new StartedTargets(environment);
    try {
      for (const target of targetsOf(options)) {
        const { title, skipped } = await started.start(target);
        say(`${title}: ${skipped ?? 'holds what it claims'}`);
      }
      const results: Result[] = [];
      for (const one of cases) {
        const missing = one.missing?.();
        if (missing === undefined) {
          results.push(...(await measureCase(one, started.targets, options, options.rounds, say)));
        } else {
          say(`${one.title}: not measured; to get what it needs: ${missing}`);
        }
      }
      return {
        began: began.toISOString(),
        minutes: Math.ceil((Date.now() - began.getTime()) / 60_000),
        command: ['npm run bench', ...(options.args.length > 0 ? ['--', ...options.args] : [])].join(' '),
        rounds: options.rounds,
        seconds: options.seconds,
        rate: options.rate,
        streams: options.streams,
        machine,
        targets: started.records.map((one) => withMemory(one, started, results)),
        results,
      };
    } finally {
      await started.stop();
    }
  });
}

function targetsOf({ only, against, accessLog }: Options): Target[] {
  const asked = targets.filter(({ name }) => only.includes(name));
  if (against !== undefined)
    asked.push(gatewayBuiltAt(resolve(against), 'gateway-other', `the gateway in ${against}`));
  if (accessLog) asked.push(gatewayWithAccessLog);
  return asked;
}

function withMemory(record: TargetRecord, started: StartedTargets, results: readonly Result[]): TargetRecord {
  const samples = results.filter(({ target }) => target === record.name).flatMap(({ samples }) => samples);
  const memory = started.memoryOf(record.name, Math.max(0, ...samples.map(({ rssMb }) => rssMb ?? 0)));
  return memory === undefined ? record : { ...record, memory };
}
