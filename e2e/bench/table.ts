/** One row of a table in Markdown. */
export const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** The lines of a table in Markdown, with the empty one behind it. */
export const table = (head: readonly string[], rows: readonly string[]): readonly string[] => [
  row(...head),
  row(...head.map(() => '---')),
  ...rows,
  '',
];
