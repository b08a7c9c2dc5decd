import type { JSX } from 'preact';
import { formatAgo, formatTime, formatUtc } from '../format.ts';

interface TimeProps {
  readonly at: string | null;
  /** Text if there is no time. */
  readonly none?: string;
  /** Shows how long ago it was instead of the time itself. */
  readonly relative?: boolean;
}

/** A time in the viewer's time zone, with UTC on hover. */
export function Time({ at, none = '–', relative = false }: TimeProps): JSX.Element {
  if (at === null) return <span class="soft">{none}</span>;
  return (
    <time dateTime={at} title={relative ? `${formatTime(at)} (${formatUtc(at)})` : formatUtc(at)}>
      {relative ? formatAgo(at, Date.now()) : formatTime(at)}
    </time>
  );
}
