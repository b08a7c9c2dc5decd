import type { JSX } from 'preact';
import type { HeldApiKey } from '../../../src/generated/operator-types.ts';
import { keyHint } from '../format.ts';
import { linkTo } from '../route.ts';
import { useMay, useSession } from '../session.ts';
import { Badge } from '../ui/badge.tsx';
import { Copy } from '../ui/copy.tsx';
import { Heading } from '../ui/heading.tsx';
import { Show } from '../ui/loaded.tsx';
import { Time } from '../ui/time.tsx';
import { useDialog } from '../use-dialog.ts';
import { useLoad } from '../use-load.ts';
import { LastDay } from './changes/last-day.tsx';
import { RevokeKey } from './changes/revoke-key.tsx';
import { RotateKey } from './changes/rotate-key.tsx';
import { LimitsPart } from './parts/limits.tsx';

/** Everything about one key. */
export function KeyPage({ id }: { readonly id: string }): JSX.Element {
  const { api } = useSession();
  const key = useLoad(() => api.get<HeldApiKey>(`/api-keys/${encodeURIComponent(id)}`), [id]);
  return (
    <Show of={key} heading="Key">
      {(held) => (
        <>
          <KeyHeading held={held} onChanged={key.reload} />
          <KeyFacts held={held} />
          <h2>Limits</h2>
          <LimitsPart accountId={held.account.id} keyId={held.id} />
        </>
      )}
    </Show>
  );
}

interface HeadingProps {
  readonly held: HeldApiKey;
  readonly onChanged: () => void;
}

function KeyHeading({ held, onChanged }: HeadingProps): JSX.Element {
  const may = useMay();
  const { name, show, closed } = useDialog<'revoke' | 'rotate'>(onChanged);
  const { id, status } = held;
  return (
    <>
      <Heading title={held.name} state={status}>
        <a class="button" href={linkTo(['explain'], { keyId: id })}>
          Explain a request
        </a>
        <a class="button" href={linkTo(['live'], { api_key_id: id })}>
          Watch
        </a>
        {may('admin') && status === 'active' && (
          <button type="button" onClick={() => show('rotate')}>
            Rotate
          </button>
        )}
        {may('support') && status !== 'revoked' && (
          <button type="button" class="danger" onClick={() => show('revoke')}>
            Revoke
          </button>
        )}
      </Heading>
      {name === 'revoke' && <RevokeKey held={held} onClose={closed} />}
      {name === 'rotate' && <RotateKey held={held} onClose={closed} />}
    </>
  );
}

function KeyFacts({ held }: { readonly held: HeldApiKey }): JSX.Element {
  const { account, parent } = held;
  return (
    <>
      <dl class="facts">
        <dt>Key</dt>
        <dd>
          <code>{keyHint(held)}</code>
        </dd>
        <dt>Id</dt>
        <dd>
          <Copy text={held.id} what="the id" />
        </dd>
        <dt>Account</dt>
        <dd>
          {parent === null ? (
            <a href={linkTo(['accounts', account.id])}>{account.name}</a>
          ) : (
            <>
              <a href={linkTo(['accounts', parent.id, 'sub-accounts', account.id])}>{account.name}</a>, a
              sub-account of <a href={linkTo(['accounts', parent.id])}>{parent.name}</a>
            </>
          )}{' '}
          {account.status !== 'active' && <Badge state={account.status} />}
        </dd>
        <dt>Scopes</dt>
        <dd>{held.scopes.join(', ') || '–'}</dd>
        <dt>Created</dt>
        <dd>
          <Time at={held.created_at} />
        </dd>
        <dt>Last used</dt>
        <dd>
          <Time at={held.last_used_at} none="never" relative />
        </dd>
        <dt>Expires</dt>
        <dd>
          <Time at={held.expires_at} none="never" />
        </dd>
        {held.revoked_at !== null && (
          <>
            <dt>Revoked</dt>
            <dd>
              <Time at={held.revoked_at} />
            </dd>
          </>
        )}
        {held.rotated_from !== null && (
          <>
            <dt>Replaces</dt>
            <dd>
              <a href={linkTo(['keys', held.rotated_from])}>{held.rotated_from}</a>
            </dd>
          </>
        )}
      </dl>
      <LastDay of={{ account_id: (parent ?? account).id }} keyId={held.id} />
    </>
  );
}
