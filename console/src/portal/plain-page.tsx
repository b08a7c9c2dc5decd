import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Heading } from '../ui/heading.tsx';
import { ReturnLink } from './return-link.tsx';

interface PlainPageProps {
  readonly title: string;
  readonly returnUrl?: string | null;
  readonly children: ComponentChildren;
}

/** A page without a session: what has happened, and where to go. */
export function PlainPage({ title, returnUrl = null, children }: PlainPageProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  // The control that had the focus is gone, and screen readers begin here.
  useEffect(() => place.current?.focus(), [title]);
  return (
    <div ref={place} tabIndex={-1}>
      <Heading title={title} />
      <p>{children}</p>
      {returnUrl !== null && (
        <p>
          <ReturnLink url={returnUrl} />
        </p>
      )}
    </div>
  );
}
