// class: built
/** A runner that overlooks a failure is worse than none. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

const RUN_FILE = new URL('../../runner/run-file.mjs', import.meta.url).href;

interface FileResult {
  passed: number;
  skipped: number;
  failures: { name: string }[];
  seconds: number;
  output: string;
}

interface Case {
  /** What the file holds after its import of tap. */
  readonly source: string;
  readonly expected: object;
  readonly silenceMs?: number;
  readonly totalMs?: number;
}

const cases: Readonly<Record<string, Case>> = {
  'assertions that hold': {
    source: `t.test('sum', async (t) => { t.equal(1 + 1, 2); t.ok(true); });`,
    expected: { passed: 2, failures: [] },
  },
  'an assertion that does not hold': {
    source: `t.test('sum', async (t) => { t.equal(1 + 1, 3, 'is three'); t.ok(true); });`,
    expected: { passed: 1, failures: [{ name: 'sum > is three' }] },
  },
  'a test that throws': {
    source: `t.test('thrower', async () => { throw new Error('boom'); });`,
    expected: { failures: [{ name: 'thrower > boom' }] },
  },
  'a skipped test': {
    source: `t.test('later', { skip: 'why' }, async () => {}); t.ok(true);`,
    expected: { passed: 1, skipped: 1, failures: [] },
  },
  'a file that cannot be loaded': {
    source: `import './not-there.ts';`,
    expected: { failures: [{ name: /not-there/ }] },
  },
  'a process that breaks off after good assertions': {
    source: `t.ok(true); process.kill(process.pid, 'SIGKILL');`,
    expected: { failures: [{ name: /./ }] },
  },
  'an exit code that no assertion explains': {
    source: `t.ok(true); process.on('exit', () => { process.exitCode = 3; });`,
    expected: { passed: 1, failures: [{ name: 'ended with exit code 3' }] },
  },
  'a test that hangs': {
    source: `t.test('hanger', async () => { await new Promise((r) => setTimeout(r, 60_000)); });`,
    expected: { failures: [{ name: /hanger|asserted nothing|timeout/ }] },
    silenceMs: 1_500,
  },
  'a loop that never ends': {
    source: `t.ok(true); for (;;);`,
    expected: { failures: [{ name: /./ }] },
    silenceMs: 1_500,
  },
  'a test that asserts and asserts without an end': {
    source: `t.test('talker', async (t) => { for (;;) { t.ok(true); await new Promise((r) => setTimeout(r, 50)); } });`,
    expected: { failures: [{ name: /talker|took longer|timeout/ }] },
    totalMs: 3_000,
  },
  'an assertion, from which on a file may be silent as long again': {
    source: `t.ok(true);`,
    expected: { passed: 1, failures: [], refreshed: true },
  },
  'no test at all': {
    source: ``,
    expected: { passed: 0, failures: [{ name: 'ran no test' }] },
  },
  'a process left behind that holds the output open': {
    source: `
      import { spawn } from 'node:child_process';
      t.ok(true);
      spawn('sleep', ['30'], { stdio: 'inherit' }).unref();`,
    expected: { passed: 1, failures: [] },
  },
};

// Most of the time is waiting.
t.jobs = 4;
for (const [name, { source, expected, silenceMs = 60_000, totalMs = 120_000 }] of Object.entries(cases)) {
  t.test(name, { buffered: true }, async (t) => {
    const dir = t.testdir({ 'x.test.ts': `import t from 'tap';\n${source}\n` });
    const result = await runFile(join(dir, 'x.test.ts'), { silenceMs, totalMs });
    t.match(result, expected);
  });
}

async function runFile(file: string, limits: object): Promise<FileResult> {
  const program = `
    import { runFile } from ${JSON.stringify(RUN_FILE)};
    const limits = ${JSON.stringify(limits)};
    let refreshed = false;
    globalThis.setTimeout = new Proxy(setTimeout, {
      apply(target, self, [call, ms]) {
        const timer = target(call, ms);
        const refresh = timer.refresh.bind(timer);
        if (ms === limits.silenceMs) timer.refresh = () => ((refreshed = true), refresh());
        return timer;
      },
    });
    const result = await runFile(${JSON.stringify(file)}, { limits, env: { TAP_TIMEOUT: '0' } });
    console.log(JSON.stringify({ ...result, refreshed }));
    process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  return JSON.parse(stdout) as FileResult;
}
