import type { JSX } from 'preact';
import { linkTo } from '../../route.ts';
import { useSession } from '../../session.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import type { Closed } from '../../use-dialog.ts';

interface DeletePlanProps {
  readonly name: string;
  readonly onClose: Closed;
}

/** Asks whether to delete a plan, which no account may have any more. */
export function DeletePlan({ name, onClose }: DeletePlanProps): JSX.Element {
  const { api } = useSession();
  return (
    <ChangeDialog<null>
      title={`Delete ${name}?`}
      action="Delete"
      done="Deleted"
      isDangerous
      onClose={onClose}
      change={() => api.change('DELETE', `/plans/${encodeURIComponent(name)}`)}
    >
      <p>
        Only a plan that no account has can be deleted.{' '}
        <a href={linkTo(['accounts'], { plan: name })}>Accounts that have it</a>
      </p>
    </ChangeDialog>
  );
}
