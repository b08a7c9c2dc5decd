import type { JSX } from 'preact';
import type { Account, SubAccount } from '../../../../src/generated/operator-types.ts';
import { counted } from '../../format.ts';
import { useSession } from '../../session.ts';
import type { Closed } from '../../use-dialog.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import { LastDay } from './last-day.tsx';
import { OpenNow } from './open-now.tsx';

interface AccountStatusProps {
  readonly account: Account;
  readonly onClose: Closed;
}

/** Asks whether to suspend or resume a parent account, and says what that stops. */
export function AccountStatusChange({ account, onClose }: AccountStatusProps): JSX.Element {
  const { api } = useSession();
  const { id, name, status, active_sub_accounts } = account;
  const isActive = status === 'active';
  return (
    <ChangeDialog<Account>
      title={isActive ? `Suspend ${name}?` : `Resume ${name}?`}
      action={isActive ? 'Suspend' : 'Resume'}
      done={isActive ? 'Suspended' : 'Resumed'}
      isDangerous={isActive}
      onClose={onClose}
      change={() => api.change('POST', `/accounts/${id}/${isActive ? 'suspend' : 'resume'}`)}
    >
      {isActive ? (
        <>
          <p>
            Every request of its keys, and of the keys of its{' '}
            {counted(active_sub_accounts, 'active sub-account')}, will be rejected with 403{' '}
            <code>account_suspended</code>. Open streams end.
          </p>
          <LastDay of={{ account_id: id }} />
          <OpenNow of={{ account_id: id }} />
        </>
      ) : (
        <p>Its keys, and those of its sub-accounts, will work again.</p>
      )}
    </ChangeDialog>
  );
}

interface SubAccountStatusProps {
  readonly parentId: string;
  readonly account: SubAccount;
  readonly onClose: Closed;
}

/** Asks whether to deactivate or reactivate a sub-account, and says what that stops. */
export function SubAccountStatusChange({ parentId, account, onClose }: SubAccountStatusProps): JSX.Element {
  const { api } = useSession();
  const { id, name, status } = account;
  const isActive = status === 'active';
  const path = `/accounts/${parentId}/sub-accounts/${id}/${isActive ? 'deactivate' : 'reactivate'}`;
  return (
    <ChangeDialog<SubAccount>
      title={isActive ? `Deactivate ${name}?` : `Reactivate ${name}?`}
      action={isActive ? 'Deactivate' : 'Reactivate'}
      done={isActive ? 'Deactivated' : 'Reactivated'}
      isDangerous={isActive}
      onClose={onClose}
      change={() => api.change('POST', path)}
    >
      {isActive ? (
        <>
          <p>Nobody can act as it any more, and its own keys stop working. Open streams end.</p>
          <LastDay of={{ account_id: parentId, sub_account_id: id }} />
          <OpenNow of={{ account_id: id }} />
        </>
      ) : (
        <p>Its parent can act as it again, and its keys work again.</p>
      )}
    </ChangeDialog>
  );
}
