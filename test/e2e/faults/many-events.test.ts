// class: night
import t from 'tap';
import { seedOfRun } from '../../support/coherence/random.ts';
import { eventsUnderFaults } from './support/events-under-faults.ts';

/** 10,000 take five minutes on two cores. */
const changes = Number(process.env['EVENTS_CHANGES'] ?? 3_000);

t.test('many random changes through three replicas, with faults', (t) =>
  eventsUnderFaults(t, changes, seedOfRun),
);
