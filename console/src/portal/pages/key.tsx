import type { JSX } from 'preact';
import type { ApiKey } from '../../../../src/generated/client-types.ts';
import { keyHint } from '../../format.ts';
import { Copy } from '../../ui/copy.tsx';
import { Heading } from '../../ui/heading.tsx';
import { Show } from '../../ui/loaded.tsx';
import { Time } from '../../ui/time.tsx';
import { useDialog } from '../../use-dialog.ts';
import { useLoad } from '../../use-load.ts';
import { RevokeKey } from '../changes/revoke-key.tsx';
import { RotateKey } from '../changes/rotate-key.tsx';
import { LastDay } from '../parts/last-day.tsx';
import { LimitsPart } from '../parts/limits.tsx';
import { usePlaces } from '../places.ts';
import { useMay, usePortal } from '../session.ts';
import { Trail } from './sub-account.tsx';

interface KeyPageProps {
  readonly ownerId: string;
  readonly id: string;
}

/** Everything about one key. */
export function KeyPage({ ownerId, id }: KeyPageProps): JSX.Element {
  const { api, session } = usePortal();
  const may = useMay();
  const path = `/sub-accounts/${encodeURIComponent(ownerId)}/api-keys/${encodeURIComponent(id)}`;
  const key = useLoad(() => api.get<ApiKey>(path), [path]);
  const only = session.sub_account;
  return (
    <>
      <Trail id={ownerId} name={only?.id === ownerId ? only.name : 'Sub-account'} />
      <Show of={key} heading="Key">
        {(value) => (
          <>
            <KeyHeading ownerId={ownerId} apiKey={value} onChanged={key.reload} />
            <KeyFacts ownerId={ownerId} apiKey={value} />
            {may('usage:read') && (
              <>
                <LastDay ownerId={ownerId} keyId={id} />
                <h2>Limits</h2>
                <LimitsPart subAccountId={ownerId} keyId={id} />
              </>
            )}
          </>
        )}
      </Show>
    </>
  );
}

interface KeyProps {
  readonly ownerId: string;
  readonly apiKey: ApiKey;
}

function KeyHeading({
  ownerId,
  apiKey,
  onChanged,
}: KeyProps & { readonly onChanged: () => void }): JSX.Element {
  const may = useMay();
  const { session } = usePortal();
  const { name, show, closed } = useDialog<'revoke' | 'rotate'>(onChanged);
  const { status, scopes } = apiKey;
  const beyond = scopes.filter((scope) => !session.scopes.includes(scope));
  const mayRotate = may('keys:write') && status === 'active';
  return (
    <>
      <Heading title={apiKey.name} state={status}>
        {mayRotate && (
          <button
            type="button"
            disabled={beyond.length > 0}
            aria-describedby={beyond.length > 0 ? 'no-rotation' : undefined}
            onClick={() => show('rotate')}
          >
            Rotate
          </button>
        )}
        {may('keys:write') && status !== 'revoked' && (
          <button type="button" class="danger" onClick={() => show('revoke')}>
            Revoke
          </button>
        )}
      </Heading>
      {mayRotate && beyond.length > 0 && (
        <p class="soft" id="no-rotation">
          You cannot rotate this key: it has {beyond.length === 1 ? 'the scope' : 'the scopes'}{' '}
          {beyond.join(', ')}, which your session may not give.
        </p>
      )}
      {name === 'revoke' && <RevokeKey ownerId={ownerId} apiKey={apiKey} onClose={closed} />}
      {name === 'rotate' && <RotateKey ownerId={ownerId} apiKey={apiKey} onClose={closed} />}
    </>
  );
}

function KeyFacts({ ownerId, apiKey }: KeyProps): JSX.Element {
  const places = usePlaces();
  return (
    <dl class="facts">
      <dt>Key</dt>
      <dd>
        <code>{keyHint(apiKey)}</code>
      </dd>
      <dt>Id</dt>
      <dd>
        <Copy text={apiKey.id} what="the id" />
      </dd>
      <dt>Scopes</dt>
      <dd>{apiKey.scopes.join(', ') || '–'}</dd>
      <dt>Created</dt>
      <dd>
        <Time at={apiKey.created_at} />
      </dd>
      <dt>Last used</dt>
      <dd>
        <Time at={apiKey.last_used_at} none="never" relative />
      </dd>
      <dt>Expires</dt>
      <dd>
        <Time at={apiKey.expires_at} none="never" />
      </dd>
      {apiKey.revoked_at !== null && (
        <>
          <dt>Revoked</dt>
          <dd>
            <Time at={apiKey.revoked_at} />
          </dd>
        </>
      )}
      {apiKey.rotated_from !== null && (
        <>
          <dt>Replaces</dt>
          <dd>
            <a href={places.key(ownerId, apiKey.rotated_from)}>{apiKey.rotated_from}</a>
          </dd>
        </>
      )}
    </dl>
  );
}
