import { resolve } from 'node:path';
import { contenders } from './targets/all.ts';
import type { Contender } from './targets/target.ts';
import { gatewayBuiltAt, gatewayWithAccessLog } from './targets/gateway.ts';
import { Field } from './started-targets.ts';
import { onGround } from './environment.ts';
import { buildPaced, pacedMissing } from './load/paced.ts';
import { describeMachine } from './machine.ts';
import { measureCase, type Result } from './measure.ts';
import type { Options } from './options.ts';
import type { Participant, RunRecord } from './report/record.ts';
import type { Case } from './scenarios/scenario.ts';

/** Brings the contenders up, measures every case on all of them in turn, and takes them down again. */
export function compare(
  options: Options,
  cases: readonly Case[],
  say: (line: string) => void,
): Promise<RunRecord> {
  const [machine, began] = [describeMachine(), new Date()];
  return onGround(options, async (ground) => {
    if (pacedMissing() === undefined) buildPaced();
    const field = new Field(ground);
    try {
      for (const contender of contendersOf(options)) {
        const { title, skipped } = await field.enter(contender);
        say(`${title}: ${skipped ?? 'holds what it claims'}`);
      }
      const results: Result[] = [];
      for (const one of cases) {
        const missing = one.missing?.();
        if (missing === undefined) {
          results.push(...(await measureCase(one, field.entrants, options, options.rounds, say)));
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
        contenders: field.participants.map((one) => withMemory(one, field, results)),
        results,
      };
    } finally {
      await field.stop();
    }
  });
}

function contendersOf({ only, against, accessLog }: Options): Contender[] {
  const asked = contenders.filter(({ name }) => only.includes(name));
  if (against !== undefined)
    asked.push(gatewayBuiltAt(resolve(against), 'gateway-other', `the gateway in ${against}`));
  if (accessLog) asked.push(gatewayWithAccessLog);
  return asked;
}

function withMemory(participant: Participant, field: Field, results: readonly Result[]): Participant {
  const samples = results
    .filter(({ contender }) => contender === participant.name)
    .flatMap(({ samples }) => samples);
  const memory = field.memoryOf(participant.name, Math.max(0, ...samples.map(({ rssMb }) => rssMb ?? 0)));
  return memory === undefined ? participant : { ...participant, memory };
}
