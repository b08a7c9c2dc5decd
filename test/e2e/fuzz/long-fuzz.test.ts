// class: night
import { randomInt } from 'node:crypto';
import t from 'tap';
import { testInputs } from './drawn-inputs.ts';

const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(1_000_000));
t.comment(`FUZZ_SEED=${seed}`);
testInputs(seed, 30);
