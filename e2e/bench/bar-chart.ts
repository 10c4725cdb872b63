type Bar = { readonly label: string; readonly value: number; readonly text: string };

const width = 760;
const labelWidth = 290;
const rowHeight = 24;
const top = 40;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * Horizontal bars as SVG, on a scale from 0 to the largest value; `limit` draws a line at the largest permitted value.
 */
export function barChart(title: string, bars: readonly Bar[], limit?: number): string {
  const largest = Math.max(limit ?? 0, ...bars.map(({ value }) => value));
  const lengthOf = (value: number): number => Math.round((value / largest) * (width - labelWidth - 110));
  const height = top + bars.length * rowHeight + 12;
  const rows = bars.flatMap(({ label, value, text }, row) => {
    const y = top + row * rowHeight;
    const end = labelWidth + lengthOf(value);
    return [
      `<text x="${labelWidth - 8}" y="${y + 15}" text-anchor="end">${escaped(label)}</text>`,
      `<rect x="${labelWidth}" y="${y + 3}" width="${Math.max(1, lengthOf(value))}" height="16" fill="#4878a8"/>`,
      `<text x="${end + 6}" y="${y + 15}">${escaped(text)}</text>`,
    ];
  });
  const line =
    limit === undefined
      ? []
      : [
          `<line x1="${labelWidth + lengthOf(limit)}" x2="${labelWidth + lengthOf(limit)}" y1="${top - 4}" ` +
            `y2="${height - 8}" stroke="#b03030" stroke-dasharray="4 3"/>`,
        ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="12" y="22" font-size="14" font-weight="bold">${escaped(title)}</text>`,
    ...rows,
    ...line,
    '</svg>',
    '',
  ].join('\n');
}

/** One row of a Markdown table. */
export const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** The lines of a table in Markdown, followed by an empty line. */
export const tableLines = (head: readonly string[], rows: readonly string[]): readonly string[] => [
  row(...head),
  row(...head.map(() => '---')),
  ...rows,
  '',
];
