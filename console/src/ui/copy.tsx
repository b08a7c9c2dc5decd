import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';

interface CopyProps {
  readonly text: string;
  /** What is copied, for the button's name. */
  readonly what: string;
}

/** A text with a button that copies it. */
export function Copy({ text, what }: CopyProps): JSX.Element {
  const shown = useRef<HTMLElement>(null);
  const [said, setSaid] = useState('');
  const copy = async (): Promise<void> => {
    try {
      // Absent on a page that came by plain HTTP from another machine.
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      if (shown.current !== null) getSelection()?.selectAllChildren(shown.current);
      setSaid('Selected: copy it with Ctrl+C or ⌘C');
    }
  };
  return (
    <span class="copy">
      <code ref={shown}>{text}</code>{' '}
      <button type="button" class="small" aria-label={`Copy ${what}`} onClick={() => void copy()}>
        Copy
      </button>{' '}
      <span class="soft" role="status">
        {said}
      </span>
    </span>
  );
}
