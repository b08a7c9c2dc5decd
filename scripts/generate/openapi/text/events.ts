import type { Subject } from '../types.ts';
import { account, accountKey, subAccount, later, lastPage, ada } from './world.ts';

const everyone = 'Covers all parents, or one of them (`account_id`).';

const changed = {
  id: '019a0f3e-6c1d-7a40-8000-05c1d2e3f4a5',
  type: 'sub_account.updated',
  created_at: later,
  account_id: account,
  sub_account_id: subAccount,
  actor: { kind: 'api_key', key_id: accountKey, name: 'production' },
  request_id: '9f86d081884c7d659a2feaa0c55ad015',
  address: '203.0.113.9',
  data: { object: { ...ada, updated_at: later }, previous: { name: 'Ada' } },
};

/** Changes and who made them. */
export const events: Subject = {
  parents: {
    operations: {
      'GET /v1/sub-accounts/events': {
        id: 'listEvents',
        tag: 'Events',
        summary: 'List events',
        description:
          'Every change of the account, its sub-accounts and its keys, and quotas that are near or reached, newest first. Within an account, an event that was committed later has a greater id, so paging skips no event.',
        responses: { 200: ['EventList', 'A page of events.'] },
      },
      'GET /v1/sub-accounts/events/{event_id}': {
        id: 'getEvent',
        tag: 'Events',
        summary: 'Get an event',
        description: 'One event by its id.',
        responses: { 200: ['Event', 'The event.'] },
      },
    },
  },
  operators: {
    operations: {
      'GET /admin/v1/events': {
        id: 'listEvents',
        tag: 'Events',
        summary: 'List events',
        description: `${everyone} Every change of an account, a key or a plan, with its actor, request and address, and quotas that are near or reached, newest first.`,
        responses: { 200: ['EventList', 'A page of events.'] },
      },
      'GET /admin/v1/events/{event_id}': {
        id: 'getEvent',
        tag: 'Events',
        summary: 'Get an event',
        description: 'One event by its id.',
        responses: { 200: ['Event', 'The event.'] },
      },
    },
  },
  examples: {
    Event: changed,
    EventList: { data: [changed], ...lastPage },
  },
  schemas: {
    Event: 'One change of an account or a key.',
    EventActor: 'Who made the change.',
    EventData: 'The change.',
    EventList: 'A page of events.',
  },
  inner: {
    'Event/properties/actor': 'EventActor',
    'Event/properties/data': 'EventData',
  },
  members: {
    'Event.account_id': 'The parent account; `null` if a plan changed, which only operators see.',
    'Event.created_at': 'When the change was made, by the clock of the database.',
    'Event.data': 'The change.',
    'EventActor.key_id': 'The key; `null` if no key made the change.',
    'EventActor.kind':
      'Who made the change: a key of the parent, a person in the portal, an operator, or, if no request did, the system.',
    'EventActor.session_id': 'The session of the portal; absent for other actors.',
    'EventActor.user': 'The person in the portal, as the parent calls them; absent for other actors.',
    'EventActor.name':
      'The name of the key at that time, or of the operator; `null` if only operators may see it.',
    'query.type': 'Only events of this type.',
    actor: 'Who made the change.',
    address:
      'The address that the request came from; `null` if it is not known, or if only operators may see it.',
    object: 'The resource after the change, as responses showed it.',
    previous: 'The former values of the changed members; `null` if the resource was created.',
    request_id:
      'The id of the request that made the change; `null` if no request did, or if only operators may see it.',
    type: 'The type of the change.',
  },
};
