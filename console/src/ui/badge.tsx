import type { JSX } from 'preact';

const good = new Set(['active', 'live', 'permit', 'ready']);
const bad = new Set(['revoked', 'suspended', 'deactivated', 'lapsed', 'refuse', 'not ready']);

/** A state, such as `active` or `revoked`. Its text says it; its colour only helps. */
export function Badge({ state }: { readonly state: string }): JSX.Element {
  const kind = good.has(state) ? 'good' : bad.has(state) ? 'bad' : 'plain';
  return <span class={`badge ${kind}`}>{state}</span>;
}
