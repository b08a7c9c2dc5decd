import type { JSX } from 'preact';
import type { MintedApiKey } from '../../../../src/generated/client-types.ts';
import { Secrets } from '../../ui/secrets.tsx';
import { useHold } from '../session.ts';

/** The secrets of a new key. The page stays until they are closed, even if the session ends meanwhile. */
export function NewSecrets({ minted }: { readonly minted: MintedApiKey }): JSX.Element {
  useHold();
  return <Secrets minted={minted} />;
}
