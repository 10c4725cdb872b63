import { tableOf } from '../output/write.ts';

export type Column<Row> = {
  readonly header: string;
  /** The column is shown only with -o wide. */
  readonly wide?: true;
  readonly cell: (row: Row) => string | undefined;
};

/** Rows as a table with headers; `none` if there are no rows. The function is pure. */
export function textOfTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  isWide: boolean,
  none: string,
): string {
  if (rows.length === 0) return none;
  const shown = columns.filter(({ wide }) => isWide || wide === undefined);
  return tableOf([shown.map(({ header }) => header), ...rows.map((row) => shown.map(({ cell }) => cell(row) || '-'))]);
}
