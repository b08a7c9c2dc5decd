import type { Subject } from '../types.ts';
import { account, accountKey, subAccount, later } from './world.ts';

const decision = {
  decision: 'permit',
  resolved_tenant: subAccount,
  reason: 'sub-account',
  problem: null,
};

/** Decisions about requests that are not sent, and keys that the first sub-account would break. */
export const decisions: Subject = {
  parents: {
    operations: {
      'GET /v1/sub-accounts/acting': {
        id: 'explainActing',
        tag: 'Caller',
        summary: 'Explain a decision about a request',
        description:
          'Says whether a request with the calling key would be let through, and as which account. The same functions decide about real requests. Nothing is sent to the upstream, and limits are not considered.',
        responses: { 200: ['ActingDecision', 'The decision, even if it is a refusal.'] },
      },
      'GET /v1/sub-accounts/onboarding': {
        id: 'getOnboarding',
        tag: 'Caller',
        summary: 'List keys that the first sub-account would break',
        description:
          'The keys of the account that wrote without the acting header in the last seven days. Once the account has an active sub-account, such writes get 400 `acting_tenant_required`.',
        responses: { 200: ['Onboarding', 'The keys.'] },
      },
    },
    examples: {
      ActingDecision: decision,
      Onboarding: {
        since: '2026-02-22T00:00:00.000Z',
        data: [{ api_key_id: accountKey, name: 'production', requests: 17, last_at: later }],
      },
    },
  },
  operators: {
    operations: {
      'POST /admin/v1/explain': {
        id: 'explainRequest',
        tag: 'This gateway',
        summary: 'Explain a decision about a request',
        description:
          'Says whether a request would be let through, and as which account. The same functions decide about real requests. Nothing is sent to the upstream.',
        request: 'ExplainRequest',
        responses: { 200: ['Explanation', 'The decision.'] },
        problems: ['not_found'],
        noIdempotency: true,
      },
    },
    examples: {
      ExplainRequest: {
        key_id: accountKey,
        method: 'POST',
        path: '/v1/shipments',
        acting_tenant: 'ext:ada',
      },
      Explanation: {
        allowed: true,
        acts_as: subAccount,
        because: 'The acting header names an active sub-account of the caller.',
        status: null,
        request: { method: 'POST', path: '/v1/shipments', route: '/' },
        caller: {
          kind: 'parent',
          account_id: account,
          parent_id: null,
          key_id: accountKey,
          scopes: ['sub_accounts:read', 'sub_accounts:write'],
        },
        limits: [
          {
            limited: 'sub_account',
            per: 'second',
            unit: 'requests',
            quota: 200,
            window_s: 2,
            remaining: 199,
            reset_s: 1,
          },
        ],
        facts: { replica_id: '5f6d2f0e-52b5-4f0e-9a59-0b7f6e2f9a10', applied: 48213, age_ms: 180 },
        ended_by: null,
        ...decision,
      },
    },
  },
  schemas: {
    ActingDecision: 'The decision about a request that is not sent.',
    ExplainRequest: 'The request to explain.',
    ExplainedTarget: 'The request and its destination.',
    Explanation: 'The decision about a request that is not sent, with its reason.',
    Onboarding: 'Keys that wrote without the acting header.',
    OnboardingKey: 'A key that wrote without the acting header.',
  },
  inner: {
    'Onboarding/properties/data/items': 'OnboardingKey',
    'Explanation/properties/request': 'ExplainedTarget',
  },
  members: {
    'Explanation.account_id': 'The account that has the key, parent or sub-account.',
    'Explanation.at': 'When it was made.',
    'Explanation.by': 'Who made it.',
    'Explanation.event_id': 'Its event.',
    'Explanation.name': 'The name of the operator, or of the key, that made it.',
    'Explanation.type': 'The type of its event.',
    'Explanation.limits':
      'The limits that the request would count against, as one replica knows them. Empty if there are none, or if the request would be rejected for another reason.',
    'Explanation.status': 'The status of the rejection; `null` if there is none.',
    'OnboardingKey.api_key_id': 'The key.',
    'OnboardingKey.requests': 'Writes without the acting header.',
    'query.acting_tenant': 'The value of the acting header; absent if the request has none.',
    'query.method': 'The method of the request; GET unless given.',
    'query.path': 'The path of the request with its query.',
    acting_tenant: 'The value of the acting header; absent if the request has none.',
    acts_as: 'The account that the request would operate on; `null` if it would be rejected.',
    allowed: 'Whether the request would be let through.',
    because: 'The reason in words.',
    caller:
      'The account of the key, with the key; `null` if the path needs no key, or if the key is revoked, has expired or may not be used for another reason.',
    decision: 'Whether the request would be let through.',
    ended_by:
      'The change that revoked the key, suspended its parent account, deactivated its sub-account, or deactivated or deleted the sub-account that it would act as (a deleted one only by its id), if that is the reason of the rejection and its event is still kept; otherwise `null`.',
    facts:
      'How new the facts are that the decision uses: at least this new. `null` if the path needs no key, or no route has it.',
    'Explanation.age_ms':
      'Milliseconds since the replica began to read the newest changes. The decision includes every change that was made before.',
    'Explanation.applied': 'The position of the newest change that the decision includes.',
    'Explanation.replica_id': 'The replica that decided.',
    key_id: 'The key.',
    kind: 'Whether it is a parent or a sub-account.',
    last_at: 'When the key last wrote without the acting header.',
    limited: 'The owner of the limit.',
    method: 'The method.',
    parent_id: 'The parent of the calling sub-account; `null` for a parent.',
    path: 'The path with its query.',
    per: 'The period of the limit.',
    problem:
      'The body that the rejection would have, without `instance` and `request_id`; `null` if the request would be let through.',
    quota: 'How many requests or units fit into a window.',
    reason:
      'The reason: `self-by-default`, `self`, `sub-account`, or the code of the error; `null` if the path needs no key.',
    remaining: 'How many of the requests are left.',
    request: 'The request and its destination.',
    reset_s: 'How many seconds until all requests of the quota are available again.',
    resolved_tenant: 'The account that the request would operate on; `null` if it would be rejected.',
    route: 'The prefix of the route that the path leads to, or `management`, `none`, `refused`.',
    since: 'The start of the time in which they were counted.',
    window_s: 'The length of a window in seconds.',
  },
};
