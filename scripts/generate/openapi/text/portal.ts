import type { Subject } from '../types.ts';
import { subAccount } from './world.ts';

/** Sessions of the portal. */
export const portal: Subject = {
  parents: {
    operations: {
      'POST /v1/sub-accounts/portal-sessions': {
        id: 'createPortalSession',
        tag: 'Portal',
        summary: 'Make a link to the portal',
        description:
          'Makes a session of the portal for one person, who opens `url` within five minutes. A link works once. The session is in force until it expires, until it is ended, or until this API key or the account ends; the session of one sub-account is closed while that is deactivated. Call it again for another link: links are not kept, so there is no `Idempotency-Key`. 404 if the portal is off or there is no such sub-account.',
        request: 'CreatePortalSession',
        responses: { 201: ['PortalSession', 'The session with its link.'] },
        problems: ['not_found', 'scope_not_grantable', 'account_deactivated', 'limit_reached'],
        headers: ['NoStore'],
        noIdempotency: true,
      },
      'DELETE /v1/sub-accounts/portal-sessions/{session_id}': {
        id: 'endPortalSession',
        tag: 'Portal',
        summary: 'End a session of the portal',
        description:
          'Ends a session, whether its link was used or not. From the 204 on nobody can use it, and no change that it began is made.',
        responses: { 204: [null, 'The session has ended.'] },
      },
    },
    examples: {
      PortalSession: {
        id: '019a0f3e-6c1d-7a40-8000-0a1b2c3d4e5f',
        url: 'https://keys.example.com/#Zm9yIGRvY3VtZW50YXRpb24gb25seSwgbm8gc2VjcmV',
        expires_at: '2026-03-01T09:05:00.000Z',
      },
      CreatePortalSession: {
        sub_account_id: subAccount,
        permissions: ['keys:read', 'keys:write', 'usage:read'],
        scopes: ['tracking:read'],
        user: 'ada@example.com',
        return_url: 'https://app.example.com/settings',
      },
    },
  },
  schemas: {
    PortalSession: 'A session of the portal with its link.',
    CreatePortalSession: 'A person who may open the portal.',
  },
  members: {
    'PortalSession.id': 'Id of the session. Events name it as their actor.',
    'PortalSession.url': 'The link. Its secret is behind `#`, which browsers send to no server.',
    'PortalSession.expires_at': 'When the link expires.',
    'CreatePortalSession.sub_account_id':
      'The only sub-account that the person sees. Without it, the person sees all of them.',
    'CreatePortalSession.permissions':
      'What the person may do, which may be more than this key may: a key that may write may let others read. `keys:write` mints, rotates and revokes keys of sub-accounts. Keys of the parent cannot be changed in the portal; only usage and events of a session for all sub-accounts name them.',
    'CreatePortalSession.scopes':
      'Scopes that keys made by the person may have; none by default. A key with another scope cannot be rotated there.',
    'CreatePortalSession.user': 'Your name for the person, which events show.',
    'CreatePortalSession.return_url':
      'Where the portal leads back to. It begins with one of the `portal.return_urls` of the gateway.',
  },
};
