/** Rows of a Markdown table; the content of cells is escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** A whole reference page; it names its source, which is the place to edit. */
export function page(title: string, introduction: string, parts: readonly string[]): string {
  return `${[`# ${title}`, `${introduction} Written by \`npm run generate\`.`, ...parts].join('\n\n')}\n`;
}

export function code(text: string): string {
  return `\`${text}\``;
}
