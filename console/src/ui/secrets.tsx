import type { JSX } from 'preact';
import type { MintedApiKey } from '../../../src/generated/operator-types.ts';
import { Copy } from './copy.tsx';

/** Text of the button that closes the secrets of a new key. */
export const dismiss = 'I have copied it';

/** The secrets of a new key, which no later response has. */
export function Secrets({
  minted,
}: {
  readonly minted: Pick<MintedApiKey, 'api_key' | 'client_secret'>;
}): JSX.Element {
  return (
    <div class="secrets">
      <p>
        <strong>
          {minted.api_key === undefined
            ? 'An earlier attempt made this key, and its response was lost. Nobody can see the key any more: revoke it, and mint another one.'
            : 'Copy it now. It is never shown again.'}
        </strong>
      </p>
      {minted.api_key !== undefined && (
        <p>
          API key <Copy text={minted.api_key} what="the API key" />
        </p>
      )}
      {minted.client_secret !== undefined && (
        <p>
          Client secret <Copy text={minted.client_secret} what="the client secret" />
        </p>
      )}
    </div>
  );
}
