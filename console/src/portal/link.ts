/** An address of the portal's own begins like this behind `#`. Anything else there is a link. */
const place = '#/';

/**
 * Takes the secret of a link out of the page's address, and returns it; `null` if the address has none. Afterwards the
 * secret is in no bookmark, and not in the history of the tab.
 */
export function takeLink(): string | null {
  const { hash } = location;
  if (hash.length <= 1 || hash.startsWith(place)) return null;
  history.replaceState(null, '', place);
  return hash.slice(1);
}

/**
 * Calls `found` with the secret of every link that is opened while the page is open. Browsers keep the page then,
 * because only the part behind `#` changes. @returns a function that stops it
 */
export function watchLinks(found: (link: string) => void): () => void {
  const changed = (): void => {
    const link = takeLink();
    if (link !== null) found(link);
  };
  // Before the listener of the route, which must not see a secret.
  addEventListener('hashchange', changed, { capture: true });
  return () => removeEventListener('hashchange', changed, { capture: true });
}
