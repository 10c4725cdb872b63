import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type postgres from 'postgres';

/** The part of the driver that reads and writes lists; driver.test.ts pins it. */
type DriverTypes = {
  readonly parsers: Readonly<Record<number, ((text: string) => unknown) | undefined>>;
  readonly serializers: Readonly<Record<number, ((value: unknown) => unknown) | undefined>>;
  arrayParser(text: string, parse: ((text: string) => unknown) | undefined, listType: number): unknown;
  arraySerializer(values: unknown, write: unknown, options: { readonly transform: object }, listType: number): unknown;
};

const require = createRequire(import.meta.url);
const driver: DriverTypes = require(join(dirname(require.resolve('postgres')), 'types.js'));

/** Object identifiers of the list types of PostgreSQL by those of their elements (catalogue pg_type). */
export const listTypes: Readonly<Record<number, number>> = {
  16: 1000, // bool
  17: 1001, // bytea
  19: 1003, // name
  20: 1016, // int8
  21: 1005, // int2
  23: 1007, // int4
  25: 1009, // text
  26: 1028, // oid
  114: 199, // json
  700: 1021, // float4
  701: 1022, // float8
  1042: 1014, // bpchar
  1043: 1015, // varchar
  1082: 1182, // date
  1114: 1115, // timestamp
  1184: 1185, // timestamptz
  1700: 1231, // numeric
  2950: 2951, // uuid
  3802: 3807, // jsonb
};

/**
 * Lists as the driver reads and writes them, for a connection that does not ask the server for them: the driver asks before the
 * first statement, and a connection that is lost meanwhile rejects a promise of its own that nobody can await, which ends the
 * process.
 */
export const listCodecs: Record<string, postgres.PostgresType> = Object.fromEntries(
  Object.entries(listTypes).map(([element, list]) => {
    const parse = (text: string): unknown => driver.arrayParser(text, driver.parsers[Number(element)], list);
    const serialize = (values: unknown): unknown =>
      driver.arraySerializer(values, driver.serializers[Number(element)], { transform: {} }, list);
    // The driver gives such a parser the text without its first bracket.
    return [`list_${list}`, { to: list, from: [list], serialize, parse: Object.assign(parse, { array: true }) }];
  }),
);
