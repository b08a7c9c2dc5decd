import type { JSX } from 'preact';
import type { SubAccount } from '../../../../src/generated/operator-types.ts';
import { linkTo } from '../../route.ts';
import { useSession } from '../../session.ts';
import type { Closed } from '../../use-dialog.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import { NameFields, namesIn } from './name-fields.tsx';

interface CreateSubAccountProps {
  readonly parentId: string;
  readonly onClose: Closed;
}

/** Asks for a new sub-account of a parent. */
export function CreateSubAccount({ parentId, onClose }: CreateSubAccountProps): JSX.Element {
  const { api } = useSession();
  return (
    <ChangeDialog<SubAccount>
      title="Create a sub-account"
      action="Create"
      done="Created"
      onClose={onClose}
      change={(form) => api.change('POST', `/accounts/${parentId}/sub-accounts`, namesIn(form))}
      result={({ id, name, warnings = [] }) => (
        <>
          <p>
            <a href={linkTo(['accounts', parentId, 'sub-accounts', id])}>{name}</a> is there.
          </p>
          {warnings.map(({ detail }) => (
            <p class="warning">{detail}</p>
          ))}
        </>
      )}
    >
      <p class="hint">
        Once a parent has an active sub-account, each write that it proxies must say who it acts as.
      </p>
      <NameFields />
    </ChangeDialog>
  );
}
