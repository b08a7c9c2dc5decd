/** Returns the text of a control, without blanks around it; `null` if it is empty. */
export function textOf(form: FormData, name: string): string | null {
  const value = form.get(name);
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' ? null : text;
}

/** Returns the time of a control of type `datetime-local`, which is in the viewer's time zone; `null` if it is empty. */
export function timeOf(form: FormData, name: string): string | null {
  const text = textOf(form, name);
  return text === null ? null : new Date(text).toISOString();
}

/** Members of `after` that differ from those of `before`. */
export function differences<T extends object>(after: Partial<T>, before: T): Partial<T> {
  const changed = Object.entries(after).filter(([name, value]) => value !== before[name as keyof T]);
  return Object.fromEntries(changed) as Partial<T>;
}
