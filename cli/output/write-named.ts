import { type Format, writeNames, writeResult } from './format.ts';

/** Writes a result; with `-o name` the names or ids that other commands take as arguments. */
export function writeNamed(
  format: Format,
  {
    value,
    names,
    text,
  }: {
    readonly value: unknown;
    readonly names: readonly string[];
    readonly text: (isWide: boolean) => string;
  },
): void {
  if (format === 'name') writeNames(names);
  else writeResult(format, value, text);
}
