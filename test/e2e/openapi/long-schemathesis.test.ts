// class: night
import { testDocuments } from './schemathesis.ts';

testDocuments(15);
