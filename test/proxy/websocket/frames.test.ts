// class: pure
import fc from 'fast-check';
import t from 'tap';
import { closeFrame, FrameTracker } from '../../../src/proxy/websocket/frames.ts';

t.test('however bytes are cut into pieces, the ends of frames are known', async () => {
  const frame = fc.record({
    opcode: fc.constantFrom(0, 1, 2, 9, 10),
    length: fc.oneof(fc.nat(130), fc.integer({ min: 65_500, max: 65_600 })),
    mask: fc.boolean(),
    flags: fc.constantFrom(0, 0x80, 0xc0),
  });
  fc.assert(
    fc.property(
      fc.array(frame, { minLength: 1, maxLength: 6 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 40_000 })),
      (frames, steps) => {
        const bytes = Buffer.concat(frames.map(encoded));
        const ends = new Set([0]);
        frames.reduce((end, each) => {
          ends.add(end + encoded(each).length);
          return end + encoded(each).length;
        }, 0);
        const tracker = new FrameTracker();
        for (let at = 0; at < bytes.length;) {
          // Around ends piece by piece, elsewhere in larger ones.
          const step = Math.min(Number(steps.next().value), nextEnd(ends, at) - at || 1);
          tracker.feed(bytes.subarray(at, at + step));
          at += step;
          if (tracker.betweenFrames !== ends.has(at)) return false;
        }
        const messages = frames.filter(({ opcode }) => opcode < 8);
        return tracker.messageBytes === messages.reduce((sum, { length }) => sum + length, 0);
      },
    ),
    { numRuns: 200 },
  );
});

t.test('a close frame is noticed with its head', async (t) => {
  const tracker = new FrameTracker();
  tracker.feed(Buffer.from([0x82, 0x01, 0x88]));
  t.notOk(tracker.closing, 'payload may look like one');
  tracker.feed(closeFrame(1000, 'bye'));
  t.ok(tracker.closing);
  t.ok(tracker.betweenFrames);
  t.equal(tracker.messageBytes, 1);
});

t.test('a frame longer than anything is one that does not end', async (t) => {
  const tracker = new FrameTracker();
  tracker.feed(Buffer.from([0x82, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]));
  tracker.feed(Buffer.alloc(100_000));
  t.notOk(tracker.betweenFrames);
});

interface Frame {
  readonly opcode: number;
  readonly length: number;
  readonly mask: boolean;
  readonly flags: number;
}

function encoded({ opcode, length, mask, flags }: Frame): Buffer {
  const extended = length < 126 ? [] : length < 65_536 ? [length >> 8, length & 0xff] : [0, 0, 0, 0, 0, 1];
  if (length >= 65_536) extended.push((length >> 8) & 0xff, length & 0xff);
  const short = length < 126 ? length : length < 65_536 ? 126 : 127;
  const head = [flags | opcode, (mask ? 0x80 : 0) | short, ...extended, ...(mask ? [1, 2, 3, 4] : [])];
  return Buffer.concat([Buffer.from(head), Buffer.alloc(length, 0x88)]);
}

function nextEnd(ends: ReadonlySet<number>, at: number): number {
  return Math.min(...[...ends].filter((end) => end > at));
}
