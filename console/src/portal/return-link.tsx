import type { JSX } from 'preact';

/** Leads back to the page that sent the person here. It leaves a frame that the portal is in. */
export function ReturnLink({ url }: { readonly url: string }): JSX.Element {
  return (
    <a href={url} target="_top" rel="noreferrer">
      Back to {new URL(url).host}
    </a>
  );
}
