import type { JSX } from 'preact';

type Members = Readonly<Record<string, unknown>>;

interface EventChangeProps {
  readonly event: {
    readonly type: string;
    readonly data: { readonly object: Members; readonly previous: Members | null };
  };
}

/** The changed members, with their former and new values; for a quota, how much of it was used. */
export function EventChange({ event: { type, data } }: EventChangeProps): JSX.Element {
  const { object, previous } = data;
  if (type.startsWith('quota.'))
    return (
      <>{`${shown(object['used'])} of ${shown(object['quota'])} ${shown(object['unit'])} a ${shown(object['per'])}`}</>
    );
  // `previous` has the changed members alone.
  const changed = differences(Object.keys(previous ?? {}), previous ?? {}, object);
  if (changed.length === 0) return <span class="soft">–</span>;
  return (
    <ul class="plain">
      {changed.map(({ name, before, after }) => (
        <li>
          {name}: {before !== undefined && <del>{shown(before)}</del>}
          {before !== undefined && after !== undefined && ' → '}
          {after !== undefined && <ins>{shown(after)}</ins>}
        </li>
      ))}
    </ul>
  );
}

interface Difference {
  readonly name: string;
  /** Undefined if the member was added. */
  readonly before: unknown;
  /** Undefined if the member was removed. */
  readonly after: unknown;
}

/** Compares the named members of an object with their former values, and all members of these. */
function differences(names: readonly string[], previous: Members, object: Members): Difference[] {
  return names.flatMap((name) => {
    const [before, after] = [previous[name], object[name]];
    if (isObject(before) && isObject(after)) {
      const inner = new Set([...Object.keys(before), ...Object.keys(after)]);
      return differences([...inner], before, after).map((one) => ({ ...one, name: `${name}.${one.name}` }));
    }
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ name, before, after }];
  });
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value of an event as a text. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
