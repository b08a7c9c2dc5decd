import { servedMethods } from '../domain/method.ts';
import type { Problem } from '../domain/problem.ts';

/** What the gateway refuses of its own accord, beside what a request's target, head, key and acting header may cause. */

export const methodNotServed: Problem = {
  code: 'method_not_allowed',
  detail: 'This method is not forwarded.',
  allow: servedMethods,
};

export const tooManyUnderWay: Problem = {
  code: 'too_many_requests',
  detail: 'This tenant has too many requests under way. Wait for some of them to be answered.',
  retryAfter: 1,
};

export const tooSlow: Problem = { code: 'request_timeout', detail: 'The request body stopped coming.' };

export const neverSettled: Problem = {
  code: 'unavailable',
  detail: 'What this request depends on keeps changing. Try again in a moment.',
  retryAfter: 1,
};

export const withdrawn: Problem = {
  code: 'unavailable',
  detail: 'Access was withdrawn while the request was under way. Whether it took effect is not known.',
  retryAfter: 1,
};
