import { type Document, isMap, isScalar, type LineCounter, type Pair } from 'yaml';

/** A place in a text, counted from line 1 and column 1; empty if it is not known. */
export type Place = { readonly line?: number; readonly column?: number };

/** The place of a field; if the field is absent, the place of the nearest enclosing part. */
export function placeOfPath(document: Document.Parsed, path: readonly PropertyKey[], lines: LineCounter): Place {
  for (let length = path.length; length > 0; length -= 1) {
    const start =
      keyOf(document, path.slice(0, length))?.range?.[0] ?? nodeAt(document, path.slice(0, length))?.range?.[0];
    if (start !== undefined) return placeAt(start, lines);
  }
  const start = document.contents?.range?.[0];
  return start === undefined ? {} : placeAt(start, lines);
}

type Ranged = { readonly range?: readonly number[] | null };

function nodeAt(document: Document.Parsed, path: readonly PropertyKey[]): Ranged | undefined {
  return document.getIn(path, true) as Ranged | undefined;
}

/** The key of a field: a value that is a map or a list begins on a later line. */
function keyOf(document: Document.Parsed, path: readonly PropertyKey[]): Ranged | undefined {
  const parent = path.length === 1 ? document.contents : nodeAt(document, path.slice(0, -1));
  if (!isMap(parent)) return undefined;
  const found = parent.items.find((pair: Pair) => isScalar(pair.key) && pair.key.value === path.at(-1));
  return isScalar(found?.key) ? found.key : undefined;
}

/** The place of an offset of the text. */
export function placeAt(offset: number, lines: LineCounter): Place {
  const { line, col } = lines.linePos(offset);
  return line < 1 ? { line: 1, column: 1 } : { line, column: col };
}
