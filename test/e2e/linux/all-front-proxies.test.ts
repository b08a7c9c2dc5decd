// class: night
import { proxies } from './proxies.ts';
import { testProxies } from './proxy-tests.ts';

testProxies(proxies);
