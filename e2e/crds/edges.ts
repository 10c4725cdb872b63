import type { StructuralSchema } from '../../hack/crds/structural-schema.ts';

type Path = readonly (string | number)[];

/** An object at or beyond one limit; `allowed` is absent if other rules also apply. */
export type Edge = { readonly title: string; readonly object: unknown; readonly allowed?: boolean };

const letter = 'я';

/**
 * For every member that an object has: values on both sides of its limits, other values of its enumeration, another
 * type, and the same object without it. The limits come from the schema; other tests check their meaning.
 */
export function edgesOf(object: unknown, schema: StructuralSchema, at: Path): readonly Edge[] {
  const value = read(object, at);
  const move = (what: string, next: unknown, allowed?: boolean): Edge => ({
    title: `${at.join('.')}: ${what}`,
    object: next === undefined ? without(object, at) : written(object, at, next),
    ...(allowed === undefined ? {} : { allowed }),
  });
  const other = move('another type', schema.type === 'string' ? 7 : 'text', false);
  switch (schema.type) {
    case 'object': {
      const members = Object.keys(value as object).flatMap((name) => {
        const member = schema.properties?.[name];
        if (member === undefined) throw new TypeError(`${at.join('.')}.${name} is not in the schema`);
        const removed = schema.required?.includes(name) ? false : undefined;
        const absent: Edge = {
          title: `${[...at, name].join('.')}: absent`,
          object: without(object, [...at, name]),
          ...(removed === undefined ? {} : { allowed: removed }),
        };
        return [absent, ...edgesOf(object, member, [...at, name])];
      });
      const unknown = {
        title: `${at.join('.')}: unknown member`,
        object: written(object, [...at, 'misspelt'], 1),
        allowed: false,
      };
      return [other, unknown, ...members];
    }
    case 'array':
      return [other, ...arrayEdges(value as readonly unknown[], schema, move), ...itemEdges(object, schema, at)];
    case 'integer':
      return [
        other,
        move('half', 1.5, false),
        ...(schema.minimum === undefined
          ? []
          : [move('least', schema.minimum, true), move('below', schema.minimum - 1, false)]),
        ...(schema.maximum === undefined
          ? []
          : [move('most', schema.maximum, true), move('above', schema.maximum + 1, false)]),
      ];
    case 'string':
      return [other, ...stringEdges(value as string, schema, move)];
    case 'boolean':
      return [other];
  }
}

type Move = (what: string, next: unknown, allowed?: boolean) => Edge;

function itemEdges(object: unknown, schema: StructuralSchema, at: Path): readonly Edge[] {
  const { items } = schema;
  if (items === undefined) return [];
  return (read(object, at) as readonly unknown[]).flatMap((_, index) => edgesOf(object, items, [...at, index]));
}

function arrayEdges(value: readonly unknown[], schema: StructuralSchema, move: Move): readonly Edge[] {
  const { minItems = 0, maxItems = 0 } = schema;
  const many = (count: number): readonly unknown[] =>
    Array.from({ length: count }, (_, index) => (index < value.length ? value[index] : numbered(value[0], index)));
  return [
    move('fewest', many(minItems), true),
    ...(minItems === 0 ? [] : [move('fewer', many(minItems - 1), false)]),
    move('most', many(maxItems), true),
    move('more', many(maxItems + 1), false),
  ];
}

/** An item with a unique name. */
function numbered(item: unknown, index: number): unknown {
  if (typeof item !== 'object' || item === null) return item;
  const named = ['id', 'name', 'type'].filter((name) => name in item);
  return { ...item, ...Object.fromEntries(named.map((name) => [name, `n${index}`])) };
}

function stringEdges(value: string, schema: StructuralSchema, move: Move): readonly Edge[] {
  if (schema.enum !== undefined) {
    const others = schema.enum.filter((one) => one !== value).map((one) => move(`the value ${one}`, one));
    return [...others, move('no value of the list', 'Nothing', false)];
  }
  const { minLength = 0, maxLength = 0, pattern } = schema;
  if (schema.format === 'date-time')
    return [move('no time', 'yesterday', false), move('a zone', '2026-01-31T12:00:00+03:00', true)];
  const longest = stretched(value, maxLength, pattern);
  return [
    ...(longest === undefined
      ? []
      : [move('longest', longest, true), move('longer', `${longest}${longest.at(-1)}`, false)]),
    ...(minLength === 0 ? [] : [move('empty', '', false)]),
    ...(pattern === undefined ? [] : [move('another form', unlike(pattern), false)]),
  ];
}

/** Two words, or two lines where a line of several words has the form. */
function unlike(pattern: string): string {
  const words = `${letter} ${letter}`;
  return new RegExp(pattern, 'u').test(words) ? words.replace(' ', '\n') : words;
}

/** Text of the maximum length: two-byte letters if allowed, otherwise the last character repeated. */
function stretched(value: string, length: number, pattern: string | undefined): string | undefined {
  if (value.startsWith('http://')) return `${value}/`.padEnd(length, 'x');
  if (pattern === undefined) return letter.repeat(length);
  const plain = 'a'.repeat(length);
  return new RegExp(pattern).test(plain) ? plain : undefined;
}

function read(object: unknown, at: Path): unknown {
  return at.reduce((node, step) => (node as Record<string | number, unknown>)[step], object);
}

/** A copy without shared references, so that each place can be changed separately. */
function unshared(object: unknown): unknown {
  return JSON.parse(JSON.stringify(object));
}

function written(object: unknown, at: Path, value: unknown): unknown {
  const copy = unshared(object);
  (read(copy, at.slice(0, -1)) as Record<string | number, unknown>)[at.at(-1) ?? ''] = value;
  return copy;
}

function without(object: unknown, at: Path): unknown {
  const copy = unshared(object);
  delete (read(copy, at.slice(0, -1)) as Record<string | number, unknown>)[at.at(-1) ?? ''];
  return copy;
}
