// class: night
import { randomInt } from 'node:crypto';
import { testPlans } from './simulation-plans.ts';

const seed = Number(process.env['TEST_SEED'] ?? randomInt(1_000_000));
testPlans([seed, seed + 1, seed + 2, seed + 3]);
