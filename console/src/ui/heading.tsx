import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useWording } from '../wording.ts';
import { Badge } from './badge.tsx';

interface HeadingProps {
  readonly title: string;
  /** State of the thing that the page shows. */
  readonly state?: string;
  /** Buttons and links for the whole page. */
  readonly children?: ComponentChildren;
}

/** The heading of a page, which is also the title of the browser's tab. */
export function Heading({ title, state, children }: HeadingProps): JSX.Element {
  const { site } = useWording();
  useEffect(() => {
    document.title = `${title} · ${site}`;
  }, [title, site]);
  return (
    <div class="heading">
      <h1>
        {title} {state !== undefined && <Badge state={state} />}
      </h1>
      {children !== undefined && <div class="buttons">{children}</div>}
    </div>
  );
}
