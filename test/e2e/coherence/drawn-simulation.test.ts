// class: night
import { randomInt } from 'node:crypto';
import t from 'tap';
import { testPlans } from './simulation-plans.ts';

const seed = Number(process.env['SIMULATION_SEED'] ?? randomInt(1_000_000));
t.comment(`SIMULATION_SEED=${seed}`);
testPlans([seed, seed + 1, seed + 2, seed + 3]);
