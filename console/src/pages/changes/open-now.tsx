import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ReplicaList } from '../../../../src/generated/operator-types.ts';
import { watch, type TailState } from '../../api/live.ts';
import { counted } from '../../format.ts';
import { useSession } from '../../session.ts';
import { useLoad } from '../../use-load.ts';

/** Milliseconds after which a replica that has said nothing is not waited for. Each should have spoken within five seconds. */
const patienceMs = 10_000;

interface OpenNowProps {
  /** Whose requests and streams count. */
  readonly of: { readonly account_id: string } | { readonly api_key_id: string };
}

/** Says how many requests and streams a change would stop now. It counts as long as it is shown. */
export function OpenNow({ of }: OpenNowProps): JSX.Element {
  const { api } = useSession();
  const replicas = useLoad(() => api.get<ReplicaList>('/replicas'), [], 5_000);
  const [state, setState] = useState<TailState | null>(null);
  const [status, setStatus] = useState<'counting' | 'late' | 'ended'>('counting');
  useEffect(() => {
    const late = setTimeout(() => setStatus((now) => (now === 'counting' ? 'late' : now)), patienceMs);
    const close = watch(of, {
      onRequests: () => undefined,
      onState: setState,
      onWaiting: () => setState(null),
      onEnded: () => {
        setStatus('ended');
        // If the session has ended, this call notices it.
        api.get('/whoami').catch(() => undefined);
      },
    });
    return () => {
      clearTimeout(late);
      close();
    };
  }, [JSON.stringify(of)]);
  if (status === 'ended')
    return (
      <p class="warning">
        Its open requests and streams cannot be counted. Are eight live streams open already?
      </p>
    );
  // A replica whose lease has lapsed has ended what it had open.
  const live =
    replicas.state === 'ready' ? replicas.value.data.filter((each) => each.state !== 'lapsed') : null;
  return <Sentence state={state} live={live?.map(({ id }) => id) ?? null} isLate={status === 'late'} />;
}

interface SentenceProps {
  readonly state: TailState | null;
  /** Ids of the replicas that may have something open; `null` if they are not known. */
  readonly live: readonly string[] | null;
  readonly isLate: boolean;
}

function Sentence({ state, live, isLate }: SentenceProps): JSX.Element {
  if (state === null)
    return <p>{isLate ? 'Open now: not known. No gateway answers.' : 'Open now: counting…'}</p>;
  const { open, replicas } = state;
  const silent = live === null ? null : live.filter((id) => !replicas.includes(id)).length;
  const all = silent === null || silent === 0 ? '' : ` of ${replicas.length + silent}`;
  return (
    <p>
      Open now: <strong>{counted(open.requests, 'request')}</strong>,{' '}
      <strong>{counted(open.streams, 'stream')}</strong>, on{' '}
      {all === '' ? counted(replicas.length, 'replica') : `${replicas.length}${all} replicas`}
      {silent === 0 ? '.' : isLate ? '. The others do not say.' : ', counting…'}
    </p>
  );
}
