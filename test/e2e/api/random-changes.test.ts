// class: app
/** The same with thousands of changes, three processes and faults: `test/e2e/faults/events.test.ts`. */
import t from 'tap';
import { operatorToken, startApis } from '../../support/apis.ts';
import { randomChanges } from '../../support/events/random-changes.ts';
import { commandLine } from '../../support/command-line.ts';

t.test('random changes through both APIs and the command line leave exactly their events', async (t) => {
  const operators = [
    { name: 'operator', token: operatorToken },
    { name: 'alice', token: 'token-of-alice-for-tests-0123456789' },
  ];
  const adminTokens = { alice: operators[1]?.token ?? '' };
  const { call, operator, internalOrigin } = await startApis(t, { adminTokens });
  const run = (token: string, ...args: readonly string[]) =>
    commandLine({ INTERNAL_PORT: new URL(internalOrigin).port, ADMIN_TOKEN: token }, ...args);
  await randomChanges(t, {
    gateways: [{ call, operator, cli: run }],
    operators,
    seed: 13,
    changes: 400,
    parents: 4,
    cliShare: 0.1,
  });
});
