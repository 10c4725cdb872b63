import type { JsonValue } from '#kit/json/json-value';
import type { JsonObject } from './document-content.ts';

const captionKeys = ['caption', 'title', 'name'] as const;
const headerKeys = ['headers', 'columns', 'header'] as const;

/**
 * The pieces of one line of text; the line is their concatenation. A piece is not copied for each line that contains
 * it.
 */
export type LinePieces = readonly string[];

type RenderedTable = { readonly caption: string | undefined; readonly lines: Iterable<LinePieces> };

/**
 * Renders a table as one line for each row, in which every cell follows its header: `City: Bern; Limit: 180`. Rows are
 * lists of cells or objects; headers are `headers`, `columns` or `header`. Every other key becomes a separate line.
 * Lines are made when they are requested: all of them can be many times as long as the table.
 */
export function renderTable(table: JsonObject): RenderedTable {
  const captionKey = captionKeys.find((key) => typeof table[key] === 'string');
  const headerKey = headerKeys.find((key) => Array.isArray(table[key]));
  const rows = Array.isArray(table['rows']) ? table['rows'] : [];
  const rendered = new Set<string>([captionKey, headerKey, ...(rows.length > 0 ? ['rows'] : [])].filter(isKey));
  const headers = headerKey === undefined ? [] : (table[headerKey] as readonly JsonValue[]).map(headerText);
  const caption = captionKey === undefined ? undefined : (table[captionKey] as string);
  return { caption, lines: linesOf() };

  function* linesOf(): Generator<LinePieces> {
    for (const [key, value] of Object.entries(table)) if (!rendered.has(key)) yield* renderValue(key, value);
    if (rows.length === 0 && headers.length > 0) yield [headers.join('; ')];
    for (const row of rows) yield renderRow(row, headers);
  }
}

/** One line for each value below a key, with its path as the name: `owner.name: Ada`. */
export function* renderValue(path: string, value: JsonValue): Generator<LinePieces> {
  if (value === null) return;
  if (typeof value !== 'object') yield [path, ': ', cellText(value)];
  else if (!Array.isArray(value)) {
    for (const [key, inner] of Object.entries(value)) yield* renderValue(`${path}.${key}`, inner);
  } else if (value.every((inner) => inner === null || typeof inner !== 'object')) {
    if (value.length > 0) yield [path, ': ', cellText(value)];
  } else for (const [at, inner] of value.entries()) yield* renderValue(`${path}.${at}`, inner);
}

function renderRow(row: JsonValue, headers: readonly string[]): LinePieces {
  if (row === null || typeof row !== 'object') return [cellText(row)];
  const cells: readonly (readonly [string, JsonValue])[] = Array.isArray(row)
    ? row.map((cell, at) => [headers[at] ?? '', cell] as const)
    : Object.entries(row);
  return cells
    .map(([header, cell]) => [header, cellText(cell)] as const)
    .filter(([, cell]) => cell !== '')
    .flatMap(([header, cell], at) => [...(at === 0 ? [] : ['; ']), ...(header === '' ? [cell] : [header, ': ', cell])]);
}

function headerText(header: JsonValue): string {
  if (header === null || typeof header !== 'object' || Array.isArray(header)) return cellText(header);
  const name = captionKeys.map((key) => header[key]).find((value) => typeof value === 'string');
  return cellText(name ?? header);
}

function cellText(value: JsonValue): string {
  if (value === null) return '';
  if (typeof value !== 'object') return String(value).replace(/\s+/g, ' ').trim();
  if (Array.isArray(value)) return value.map(cellText).filter(Boolean).join(', ');
  return Object.entries(value)
    .map(([key, inner]) => `${key}: ${cellText(inner)}`)
    .join(', ');
}

function isKey(key: string | undefined): key is string {
  return key !== undefined;
}
