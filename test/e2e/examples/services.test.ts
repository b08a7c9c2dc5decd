// class: built
import { testServices } from './service-tests.ts';

testServices(['Fastify']);
