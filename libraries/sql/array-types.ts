import { parse } from 'postgres-array';

type Element = {
  /** Object identifiers of array types (catalogue pg_type). */
  readonly arrays: readonly number[];
  /** Reads one element from its text. */
  readonly read: (text: string) => unknown;
};

const asText = (text: string): unknown => text;

/** Types of elements as the driver reads them outside of arrays. */
const elements: readonly Element[] = [
  // bpchar, varchar, text, name, uuid, int8 and numeric: the last two may exceed a number.
  { arrays: [1014, 1015, 1009, 1003, 2951, 1016, 1231], read: asText },
  // int2, int4, oid, float4 and float8.
  { arrays: [1005, 1007, 1028, 1021, 1022], read: Number },
  { arrays: [1000], read: (text) => text === 't' },
  // date, timestamp and timestamptz.
  { arrays: [1182, 1115, 1185], read: (text) => new Date(text) },
  { arrays: [1001], read: (text) => Buffer.from(text.slice(2), 'hex') },
  // json and jsonb.
  { arrays: [199, 3807], read: (text) => JSON.parse(text) },
];

/**
 * The array types of a connection. The driver can request them from the server at the start of each connection, but the
 * failure of that statement is an unhandled rejection, which ends the process (docs/decisions/0011).
 */
export const arrayTypes: Readonly<Record<string, ArrayType>> = Object.fromEntries(
  elements.flatMap(({ arrays, read }) =>
    arrays.map((oid) => [
      `array_${oid}`,
      { to: oid, from: [oid], serialize, parse: (text: string) => parse(text, read) },
    ]),
  ),
);

type ArrayType = {
  readonly to: number;
  readonly from: number[];
  readonly serialize: (values: unknown) => unknown;
  readonly parse: (text: string) => unknown;
};

/** The text of an array (PostgreSQL documentation, 8.15.2); another value is sent unchanged. */
function serialize(values: unknown): unknown {
  if (!Array.isArray(values)) return values;
  return `{${values.map((value) => (value === null || value === undefined ? 'NULL' : quoted(textOf(value)))).join(',')}}`;
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
