// class: pure
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { formatSecret } from '../../src/domain/api-key.ts';
import { loggedPath } from '../../src/domain/logged-path.ts';

t.test(
  'a path is cut before it is searched, and shows nothing of a key that the cut goes through',
  async (t) => {
    const key = formatSecret('acme', randomBytes(24));
    const logged = ['', `/${key}`].flatMap((before) =>
      Array.from({ length: 300 }, (_, at) =>
        loggedPath(`${before.padEnd(900 + at, '/a')}/${key}/${'_b'.repeat(7_000)}?c`),
      ),
    );
    t.equal(Math.max(...logged.map(({ length }) => length)), 1_025);
    t.notMatch(logged.join('\n'), key.slice(0, 14));
    t.match(loggedPath(`/${'by-external-id/'.repeat(300)}canary`), /^\/by-external-id\/:external_id$/);
  },
);
