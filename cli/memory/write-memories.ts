import { type Format, writeNames, writeResult } from '../output/format.ts';

/** Writes a result about memories; with `-o name` their ids, which the other commands take as arguments. */
export function writeMemories(
  format: Format,
  {
    value,
    ids,
    text,
  }: {
    readonly value: unknown;
    readonly ids: readonly string[];
    readonly text: (isWide: boolean) => string;
  },
): void {
  if (format === 'name') writeNames(ids);
  else writeResult(format, value, text);
}
