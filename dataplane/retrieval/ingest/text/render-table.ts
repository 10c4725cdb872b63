import type { JsonValue } from '#kit/json/json-value';
import type { JsonObject } from './document-content.ts';

const captionKeys = ['caption', 'title', 'name'] as const;
const headerKeys = ['headers', 'columns', 'header'] as const;

type RenderedTable = { readonly caption: string | undefined; readonly text: string };

/**
 * Renders a table as one line for each row, in which every cell follows its header: `City: Bern; Limit: 180`. Rows are
 * lists of cells or objects; headers are `headers`, `columns` or `header`. Every other key is a line of its own.
 */
export function renderTable(table: JsonObject): RenderedTable {
  const captionKey = captionKeys.find((key) => typeof table[key] === 'string');
  const headerKey = headerKeys.find((key) => Array.isArray(table[key]));
  const rows = Array.isArray(table['rows']) ? table['rows'] : [];
  const rendered = new Set<string>([captionKey, headerKey, ...(rows.length > 0 ? ['rows'] : [])].filter(isKey));
  const headers = headerKey === undefined ? [] : (table[headerKey] as readonly JsonValue[]).map(headerText);
  const others = Object.entries(table).filter(([key]) => !rendered.has(key));
  const lines = [
    ...others.flatMap(([key, value]) => renderValue(key, value)),
    ...(rows.length === 0 && headers.length > 0 ? [headers.join('; ')] : []),
    ...rows.map((row) => renderRow(row, headers)),
  ];
  const caption = captionKey === undefined ? undefined : (table[captionKey] as string);
  return { caption, text: lines.filter((line) => line !== '').join('\n') };
}

/** One line for each value below a key, named by its path: `owner.name: Ada`. */
export function renderValue(path: string, value: JsonValue): readonly string[] {
  if (value === null) return [];
  if (typeof value !== 'object') return [`${path}: ${cellText(value)}`];
  if (!Array.isArray(value))
    return Object.entries(value).flatMap(([key, inner]) => renderValue(`${path}.${key}`, inner));
  if (value.every((inner) => inner === null || typeof inner !== 'object')) {
    return value.length === 0 ? [] : [`${path}: ${cellText(value)}`];
  }
  return value.flatMap((inner, at) => renderValue(`${path}.${at}`, inner));
}

function renderRow(row: JsonValue, headers: readonly string[]): string {
  if (row === null || typeof row !== 'object') return cellText(row);
  const cells: readonly (readonly [string, JsonValue])[] = Array.isArray(row)
    ? row.map((cell, at) => [headers[at] ?? '', cell] as const)
    : Object.entries(row);
  return cells
    .map(([header, cell]) => [header, cellText(cell)] as const)
    .filter(([, cell]) => cell !== '')
    .map(([header, cell]) => (header === '' ? cell : `${header}: ${cell}`))
    .join('; ');
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
