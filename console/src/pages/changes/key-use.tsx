import type { JSX } from 'preact';
import type { HeldApiKey } from '../../../../src/generated/operator-types.ts';
import { Time } from '../../ui/time.tsx';
import { LastDay } from './last-day.tsx';
import { OpenNow } from './open-now.tsx';

/** Says how a key is used, before a change ends it at once. */
export function KeyUse({ held }: { readonly held: HeldApiKey }): JSX.Element {
  return (
    <>
      <p>
        Last used: <Time at={held.last_used_at} none="never" relative />
      </p>
      <LastDay of={{ account_id: (held.parent ?? held.account).id }} keyId={held.id} />
      <OpenNow of={{ api_key_id: held.id }} />
    </>
  );
}
