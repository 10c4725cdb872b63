import { stringify } from 'yaml';

/** Writes to standard output; a line feed follows the text unless it ends with one. */
export function writeText(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** Writes a warning to standard error: the result of the command is on standard output. */
export function writeWarning(warning: string): void {
  process.stderr.write(`portcullis: warning: ${warning}\n`);
}

/** Writes a sentence about a result without content to standard error: scripts read names from standard output. */
export function writeNotice(sentence: string): void {
  process.stderr.write(`portcullis: ${escapeControls(sentence)}\n`);
}

export function writeJson(value: unknown): void {
  writeText(JSON.stringify(value, undefined, 2));
}

export function writeYaml(value: unknown): void {
  writeText(yamlOf(value));
}

/** Long lines are not folded, so that texts and patterns can be compared. */
export function yamlOf(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/**
 * Replaces control characters other than line feeds and tabs by their codes: a value of a resource could otherwise move
 * the cursor of a terminal and hide other lines.
 */
export function escapeControls(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\x${code.toString(16).padStart(2, '0')}`;
  });
}

/** Writes a text that must stay on one line, such as a file name, without control characters. */
export function escapeLine(text: string): string {
  const escaped = escapeControls(text).replaceAll('\n', '\\x0a').replaceAll('\t', '\\x09');
  return escaped.replaceAll(/[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16)}`;
  });
}

/** Rows in columns as wide as their widest cell; the last column is not padded. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = widthsOf(rows);
  return rows.map((row) => alignedRow(row, widths)).join('\n');
}

/** The width of the widest cell of each column. */
export function widthsOf(rows: readonly (readonly string[])[]): readonly number[] {
  return rows.reduce<number[]>((most, row) => row.map((cell, at) => Math.max(most[at] ?? 0, cell.length)), []);
}

/** One row of a table with columns of these widths. */
export function alignedRow(row: readonly string[], widths: readonly number[]): string {
  return row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join('   ');
}
