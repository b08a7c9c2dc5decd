import { catalogue } from '../../../src/domain/problem.ts';
import type { Json } from './types.ts';

/** The body of every rejection (RFC 9457). */
export const problem: Json = {
  description:
    'Why a request was rejected (RFC 9457). Programs look at `code`, people at `detail`. Some codes have members of their own.',
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id'],
  properties: {
    type: { description: 'A URI that ends in the code.', type: 'string', format: 'uri' },
    title: { description: 'What the code means.', type: 'string' },
    status: { description: 'The status of the response.', type: 'integer', minimum: 400, maximum: 599 },
    detail: { description: 'What is wrong and what to do, for people. It may change.', type: 'string' },
    instance: {
      description: 'The path that was called, without its query; empty if the request could not be read.',
      type: 'string',
    },
    code: {
      description: 'What is wrong, for programs. A code never changes its meaning; new ones may come.',
      type: 'string',
      examples: Object.keys(catalogue).slice(0, 2),
    },
    request_id: { description: 'The id of the request in the operator’s logs.', type: 'string' },
    errors: {
      description: 'Each fault of the request; present if the request was not valid.',
      type: 'array',
      items: {
        type: 'object',
        required: ['pointer', 'detail'],
        properties: {
          pointer: {
            description:
              'The place of the fault: a JSON pointer into the body (RFC 6901), `?name` for a query parameter, or the name of a header.',
            type: 'string',
          },
          detail: { description: 'What is wrong there.', type: 'string' },
        },
      },
    },
    scope: { description: 'The scope that is missing; with `insufficient_scope`.', type: 'string' },
    role: { description: 'The role that is needed; with `insufficient_role`.', type: 'string' },
    reason: {
      description:
        'With `unavailable`: `slow` if the store is reachable but took too long, so that a smaller request may succeed.',
      type: 'string',
      enum: ['slow'],
    },
    limited: {
      description: 'Whose limit has no room; with `rate_limited` and `quota_exceeded`.',
      type: 'string',
      enum: ['api_key', 'sub_account', 'parent'],
    },
    confirmed: {
      description:
        'With `rate_limited`: false if the gateway could not ask in time whether there is room. A request after `Retry-After` may succeed.',
      type: 'boolean',
      enum: [false],
    },
    sub_account_id: {
      description: 'The sub-account that has the external_id; with `external_id_taken`.',
      type: 'string',
      format: 'uuid',
    },
    api_key_id: {
      description: 'The newest key of the rotation; with `key_rotated`.',
      type: 'string',
      format: 'uuid',
    },
    account_id: {
      description: 'The parent account that has the external_id; with `external_id_taken`.',
      type: 'string',
      format: 'uuid',
    },
  },
};
