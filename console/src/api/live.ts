import { operatorPrefix } from './operator-api.ts';

/** A request to the public listener of a replica, after it has ended. */
export interface LiveRequest {
  readonly at: string;
  readonly replica_id: string;
  readonly request_id: string;
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  readonly status: number | null;
  readonly code: string | null;
  readonly ms: number;
  readonly account_id: string | null;
  readonly parent_id: string | null;
  readonly resolved_tenant: string | null;
  readonly api_key_id: string | null;
}

/** Replicas that a stream speaks for, and whether it is complete. */
export interface TailState {
  readonly replicas: readonly string[];
  readonly sampled: boolean;
  readonly dropped: number;
  /** What these replicas have open now of the account or key of the stream. */
  readonly open: { readonly requests: number; readonly streams: number };
}

interface Hears {
  /** @param requests the newest first */
  readonly onRequests: (requests: readonly LiveRequest[]) => void;
  readonly onState: (state: TailState) => void;
  /** The connection is gone, and the browser tries again. */
  readonly onWaiting: () => void;
  /** The stream was refused, so the browser does not try again. */
  readonly onEnded: () => void;
}

/** Milliseconds for which requests are collected, so that a flood is drawn a few times a second. */
const collectedMs = 250;

/**
 * Opens a stream of requests (`GET /admin/v1/live`).
 *
 * @returns function that closes it
 */
export function watch(filters: Readonly<Record<string, string>>, hears: Hears): () => void {
  const given = Object.entries(filters).filter(([, value]) => value !== '');
  const source = new EventSource(`${operatorPrefix}/live?${new URLSearchParams(given).toString()}`);
  let collected: LiveRequest[] = [];
  const timer = setInterval(() => {
    if (collected.length === 0) return;
    hears.onRequests(collected.reverse());
    collected = [];
  }, collectedMs);
  source.onmessage = ({ data }) => void collected.push(JSON.parse(String(data)) as LiveRequest);
  source.addEventListener('state', ({ data }) => hears.onState(JSON.parse(String(data)) as TailState));
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) hears.onEnded();
    else hears.onWaiting();
  };
  return () => {
    clearInterval(timer);
    source.close();
  };
}
