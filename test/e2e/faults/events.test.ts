// class: real
import t from 'tap';
import { seedOfRun } from '../../support/coherence/random.ts';
import { eventsUnderFaults } from './support/events-under-faults.ts';

t.test('random changes through three replicas, with faults', (t) => eventsUnderFaults(t, 300, seedOfRun));
