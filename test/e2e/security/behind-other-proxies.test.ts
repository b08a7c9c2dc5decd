// class: night
import { testBehind } from './proxy-tests.ts';

testBehind(['haproxy']);
