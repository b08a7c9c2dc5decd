import type { JSX } from 'preact';

interface TabsProps {
  readonly label: string;
  /** Name in the address, and text. */
  readonly tabs: readonly (readonly [string, string])[];
  readonly current: string;
  readonly linkOf: (tab: string) => string;
}

/** Links to the parts of a page. Each part has an address of its own. */
export function Tabs({ label, tabs, current, linkOf }: TabsProps): JSX.Element {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([name, text]) => (
        <a href={linkOf(name)} aria-current={name === current && 'page'}>
          {text}
        </a>
      ))}
    </nav>
  );
}
