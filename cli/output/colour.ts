import { styleText } from 'node:util';

/**
 * Colours a text for a terminal. The text stays plain if the output is not a terminal, with `NO_COLOR` and with
 * `--no-color`; `FORCE_COLOR` colours it everywhere.
 */
export function paint(stream: NodeJS.WriteStream, format: Parameters<typeof styleText>[0], text: string): string {
  return styleText(format, text, { stream });
}

export function usesColour(stream: NodeJS.WriteStream): boolean {
  return paint(stream, 'bold', '-') !== '-';
}

/** Words of tables that need attention, as whole words. */
const alarming = /\b(?:UNGUARDED|FAULT|FAILED|Deleting)\b/g;

/** Marks the words of a table that need attention, after its columns were aligned. */
export function paintAlarms(text: string): string {
  return text.replace(alarming, (word) => paint(process.stdout, ['bold', 'red'], word));
}
