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
  const changed = differences(previous ?? {}, object);
  if (changed.length === 0) return <span class="soft">–</span>;
  return (
    <ul class="plain">
      {changed.map(({ name, before, after }) => (
        <li>
          {name}: <del>{shown(before)}</del> → <ins>{shown(after)}</ins>
        </li>
      ))}
    </ul>
  );
}

interface Difference {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Compares the former members of an object with its present ones, and members of members. */
function differences(previous: Members, object: Members): Difference[] {
  return Object.entries(previous).flatMap(([name, before]) => {
    const after = object[name];
    if (isObject(before) && isObject(after))
      return differences(before, after).map((inner) => ({ ...inner, name: `${name}.${inner.name}` }));
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
