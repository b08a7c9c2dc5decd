// class: pure
import t from 'tap';
import { Progress } from '../../../src/cli/import/progress.ts';

function stream(isTTY: boolean): {
  written: string;
  isTTY: boolean;
  columns: number;
  write(text: string): void;
} {
  return {
    written: '',
    isTTY,
    columns: 200,
    write(text) {
      this.written += text;
    },
  };
}

t.test('on a terminal there is a bar that is drawn over', async (t) => {
  const out = stream(true);
  let now = 0;
  const progress = new Progress(out, () => now);
  progress.begin('accounts', 100_000);
  now = 50;
  progress.add(1_000);
  now = 10_000;
  progress.add(49_000);
  progress.note('Waiting');
  progress.end();
  t.equal(
    out.written.replaceAll('\u001b[K', '<'),
    '\raccounts     [------------------------] 0 of 100,000, 0/s<' +
      '\raccounts     [############------------] 50,000 of 100,000, 5,000/s, 0:10 left<' +
      '\r<Waiting\n' +
      '\raccounts     [############------------] 50,000 of 100,000, 5,000/s, 0:10 left<\n',
  );
});

t.test('elsewhere there is a line now and then, and none is drawn over', async (t) => {
  const out = stream(false);
  let now = 0;
  const progress = new Progress(out, () => now);
  progress.begin('keys', 2_000);
  for (let i = 0; i < 20; i++) {
    now += 500;
    progress.add(100);
  }
  progress.end();
  t.equal(out.written, 'keys         1,000 of 2,000, 200/s, 0:05 left\nkeys         2,000 of 2,000, 200/s\n');
});
