import type { JSX } from 'preact';
import type { Account, SubAccount } from '../../../../src/api/reference/documents/operator-types.ts';
import { Copy } from '../../ui/copy.tsx';
import { Time } from '../../ui/time.tsx';

/** Ids, dates and metadata of an account. A parent also has a plan. */
export function AccountFacts({ account }: { readonly account: Account | SubAccount }): JSX.Element {
  return (
    <dl class="facts">
      <dt>Id</dt>
      <dd>
        <Copy text={account.id} what="the id" />
      </dd>
      <dt>External id</dt>
      <dd>{account.external_id ?? '–'}</dd>
      {'plan' in account && (
        <>
          <dt>Plan</dt>
          <dd>{account.plan ?? '–'}</dd>
        </>
      )}
      <dt>Created</dt>
      <dd>
        <Time at={account.created_at} />
      </dd>
      {Object.entries(account.metadata).map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}
