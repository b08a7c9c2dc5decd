// class: hostile
import { testBehind } from './proxy-tests.ts';

testBehind(['nginx']);
