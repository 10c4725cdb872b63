import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';

/** One value of values.yaml: its path from the root, its default, and its comment. */
export type ChartValue = {
  readonly path: readonly string[];
  readonly default: unknown;
  readonly comment: string;
  /** Whether the value is a group, whose members follow it. */
  readonly isGroup: boolean;
};

/** Keys whose content the chart does not declare: their default is one value as a whole. */
const whole = new Set(['resources', 'labels']);

/** The values of values.yaml in their order; the comment of a key is above it. */
export function readValues(text: string): readonly ChartValue[] {
  const document = parseDocument(text);
  if (!isMap(document.contents)) throw new TypeError('the top level of values.yaml is not a map');
  // The first comment describes the file; the comment of the first key follows after an empty line.
  return valuesOf(document.contents, []);
}

function valuesOf(map: YAMLMap, above: readonly string[]): readonly ChartValue[] {
  return map.items.flatMap((pair, index) => {
    const key = isScalar(pair.key) ? String(pair.key.value) : '';
    const path = [...above, key];
    const comment = commentOf(pair, index === 0 ? map : undefined);
    const value = pair.value;
    const isGroup = isMap(value) && value.items.length > 0 && !whole.has(key);
    const own = {
      path,
      comment,
      isGroup,
      default: isGroup ? undefined : (pair.toJSON() as Record<string, unknown>)[key],
    };
    return isGroup ? [own, ...valuesOf(value, path)] : [own];
  });
}

/** The comment above the first key of a map belongs to the map. */
function commentOf(pair: Pair, map: YAMLMap | undefined): string {
  const before = isScalar(pair.key) ? pair.key.commentBefore : undefined;
  const text = before ?? map?.commentBefore ?? '';
  const paragraphs = text.split(/\n\s*\n/);
  return (paragraphs.at(-1) ?? '')
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
    .trim();
}
