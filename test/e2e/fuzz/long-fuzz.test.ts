// class: night
import { randomInt } from 'node:crypto';
import { testInputs } from './drawn-inputs.ts';

testInputs(Number(process.env['TEST_SEED'] ?? randomInt(1_000_000)), 30);
