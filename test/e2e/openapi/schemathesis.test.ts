// class: contract
import { testDocuments } from './schemathesis.ts';

testDocuments(5);
