import { counted } from '../format.ts';
import type { Wording } from '../wording.ts';

const ask = 'The page that sent you here decides what you may do. Ask there if you need more.';

/** How the portal speaks to people who do not run the gateway. */
export const forCustomers: Omit<Wording, 'site'> = {
  advice: {
    unavailable: 'Try again in a moment.',
    overloaded: 'Try again in a moment.',
    too_many_requests: 'Wait a moment, then try again.',
    not_a_gateway: 'Try again in a moment.',
    internal: 'Try again. If it stays, send the number of the request to whom you have the API from.',
    not_found: 'It may have been deleted, or the address is incomplete.',
    insufficient_scope: ask,
    scope_not_grantable: ask,
    key_rotated: 'Revoke the older key first.',
    key_not_active: 'Reload the list: somebody may have revoked it.',
    limit_reached: 'Revoke keys that nobody uses any more.',
    account_suspended: ask,
    account_deactivated: ask,
  },
  enforced: (receipt) => {
    if (receipt === null) return 'In force everywhere.';
    const { replicas, ms, unheard, streams } = receipt;
    const parts = [`In force everywhere (${counted(replicas, 'replica')}, ${ms} ms).`];
    if (unheard > 0)
      parts.push(`${counted(unheard, 'replica')} did not answer, so nothing is served there any more.`);
    if (streams > 0) parts.push(`${counted(streams, 'open stream')} ended.`);
    return parts.join(' ');
  },
};
