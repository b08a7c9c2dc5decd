// class: night
import { services } from './build-services.ts';
import { testServices } from './service-tests.ts';

testServices(Object.keys(services));
