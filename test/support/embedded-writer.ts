/** A process with the embedded store of the directory it is given: writes until it is killed, says what is committed. */
import { openEmbedded } from '../../src/adapters/embedded/store.ts';
import { quietFigures } from '../contract/replica-figures.ts';
import { createParent, createSub } from './store.ts';
import { longMs } from './unhurried.ts';

const store = await openEmbedded(process.argv[2] ?? '', undefined, longMs);
await store.migrate();
const parent = await createParent(store.tenants);
await store.figures.report('killed', quietFigures, false);
process.stdout.write(`${parent.id}\n`);
for (;;) process.stdout.write(`${(await createSub(store.tenants, parent.id)).value.id}\n`);
