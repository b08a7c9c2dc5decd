import type { JSX } from 'preact';
import type { Erasure } from '../../../../src/generated/operator-types.ts';
import { counted } from '../../format.ts';
import { useSession } from '../../session.ts';
import { Show } from '../../ui/loaded.tsx';
import { Time } from '../../ui/time.tsx';
import { useLoad } from '../../use-load.ts';

/** How far the erasure of a deleted account has come. It is read again every five seconds. */
export function ErasurePart({ id }: { readonly id: string }): JSX.Element {
  const { api } = useSession();
  const erasure = useLoad(() => api.get<Erasure>(`/erasures/${encodeURIComponent(id)}`), [id], 5_000);
  return (
    <Show of={erasure}>
      {({ status, deleted_at, erased_at, accounts, api_keys, events, idempotency_records }) => (
        <section aria-label="Erasure">
          <dl class="facts">
            <dt>Deleted</dt>
            <dd>
              <Time at={deleted_at} />
            </dd>
            <dt>State</dt>
            <dd>
              {status === 'done' ? (
                <>
                  names, metadata and addresses are erased, since <Time at={erased_at} />
                </>
              ) : (
                'names, metadata and addresses are being erased; it takes up to an hour'
              )}
            </dd>
            <dt>Erased so far</dt>
            <dd>
              {counted(accounts, 'account')}, {counted(api_keys, 'key')}, {counted(events, 'event')},{' '}
              {counted(idempotency_records, 'stored result')}
            </dd>
          </dl>
        </section>
      )}
    </Show>
  );
}
