import type { JSX } from 'preact';
import type { Account, SubAccount } from '../../../../src/generated/operator-types.ts';
import { linkTo } from '../../route.ts';
import { Copy } from '../../ui/copy.tsx';
import { Time } from '../../ui/time.tsx';

/** Ids and dates of an account. A parent also has a plan. */
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
          <dd>{account.plan === null ? '–' : <a href={linkTo(['plans'])}>{account.plan}</a>}</dd>
        </>
      )}
      <dt>Created</dt>
      <dd>
        <Time at={account.created_at} />
      </dd>
    </dl>
  );
}

/** The metadata of an account, if it has any. */
export function MetadataFacts({ metadata }: Pick<Account, 'metadata'>): JSX.Element | null {
  const pairs = Object.entries(metadata);
  if (pairs.length === 0) return null;
  return (
    <section aria-label="Metadata">
      <h2>Metadata</h2>
      <dl class="facts">
        {pairs.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}
