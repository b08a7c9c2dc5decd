import type { JSX } from 'preact';
import { Heading } from '../ui/heading.tsx';
import { ErasurePart } from './parts/erasure.tsx';

/** A deleted account. All that is left to show is its erasure. */
export function ErasurePage({ id }: { readonly id: string }): JSX.Element {
  return (
    <>
      <Heading title="Deleted account" />
      <p>
        <code>{id}</code>
      </p>
      <ErasurePart id={id} />
    </>
  );
}
