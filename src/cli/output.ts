import { stripVTControlCharacters, styleText } from 'node:util';
import Table from 'cli-table3';
import type { Failure } from './failure.ts';
import type { Surroundings, TextStream } from './surroundings.ts';

/** Output of a command: text for people or JSON for programs. */
export interface Output {
  /**
   * Writes the result of a command.
   *
   * @param json value to write if the command line asks for JSON
   * @param text returns the text to write otherwise
   */
  result(json: unknown, text: () => string): void;
  /** Writes a message for the user, such as progress. In JSON mode it writes nothing. */
  note(text: string): void;
  failure(failure: Failure): void;
}

/** Makes an output that writes to stdout and stderr, with colours only where they are terminals that show them. */
export function standardOutput(
  { stdout, stderr }: Pick<Surroundings, 'stdout' | 'stderr'>,
  json: boolean,
): Output {
  return {
    result: (value, text) => {
      stdout.write(`${json ? printableJson(value, 2) : shownOn(stdout, text())}\n`);
    },
    note: (text) => {
      if (!json) stdout.write(`${text}\n`);
    },
    failure: ({ message, hint, code, details }) => {
      if (json) {
        stderr.write(`${printableJson({ error: message, hint, exit_code: code, ...details }, 2)}\n`);
        return;
      }
      const red = shownOn(stderr, styled('red', 'error:'));
      const advice = hint === undefined ? '' : `\n${printableLines(hint)}\n`;
      stderr.write(`${red} ${printableLines(message)}\n${advice}`);
    },
  };
}

/** Colours a text; {@link standardOutput} takes the colours out again if its stream does not show them. */
export function styled(format: 'bold' | 'dim' | 'green' | 'red' | 'yellow', text: string): string {
  return styleText(format, text, { validateStream: false });
}

function shownOn(stream: TextStream, text: string): string {
  const showsColours = styleText('bold', '', { stream }) !== '';
  return showsColours ? text : stripVTControlCharacters(text);
}

/**
 * Writes control characters and bidi controls as `\uXXXX`. To be used for every text that a customer may have chosen,
 * because terminals obey such characters.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, escaped);
}

/** As {@link printable}, but keeps line breaks. */
function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** Formats a value as JSON that is {@link printable}, too. @param indent spaces for each level; none means one line */
export function printableJson(value: unknown, indent?: number): string {
  // `JSON.stringify` leaves U+007F to U+009F and bidi controls in strings. Line breaks are between members only.
  return printableLines(JSON.stringify(value, null, indent));
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Formats rows under headings, without frames. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const plain = { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '', middle: '  ' };
  const edges = { top: '', 'top-mid': '', 'top-left': '', 'top-right': '', left: '', right: '' };
  const bottom = { bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' };
  const grid = new Table({
    head: headings.map((heading) => styled('bold', heading)),
    chars: { ...plain, ...edges, ...bottom },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  grid.push(...rows.map((row) => [...row]));
  return grid
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Formats names and values, one pair per line. */
export function fields(pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${styled('dim', name.padEnd(width))}  ${value}`).join('\n');
}

/** Colours a status: `active` green, every other status yellow. */
export function status(text: string): string {
  return styled(text === 'active' ? 'green' : 'yellow', text);
}
