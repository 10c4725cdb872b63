import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AliasWorld, circleToBreak, type Mover } from './alias-circle.ts';

/** Each binding is given as `name: held>wanted` aliases; ids are in the order of the names. */
function worldOf(...lines: readonly string[]): AliasWorld {
  const movers = lines.map((line): Mover => {
    const [name = '', holds = '', wants = ''] = line.split(/[:>] ?/);
    return { name, id: name, holds, wants };
  });
  return {
    holderOf: (alias) => movers.find(({ holds }) => holds === alias)?.name,
    moverOf: (name) => movers.find((one) => one.name === name && one.wants !== one.holds),
    heirOf: (alias, aside) => {
      const names = movers.filter(({ wants, holds }) => wants === alias && holds !== alias).map(({ name }) => name);
      return names.includes(aside) ? aside : names.toSorted()[0];
    },
  };
}

const names = (name: string, ...lines: readonly string[]) =>
  circleToBreak(name, worldOf(...lines)).map((one) => one.name);

test('of two bindings that request each other’s alias, only the one with the smaller id releases its alias', () => {
  expect(names('a', 'a: x>y', 'b: y>x')).toEqual(['a', 'b']);
  expect(names('b', 'a: x>y', 'b: y>x')).toEqual([]);
});

test('one of three bindings in an alias cycle releases its alias', () => {
  const three = ['b: x>y', 'a: y>z', 'c: z>x'];
  expect(names('a', ...three)).toEqual(['a', 'c', 'b']);
  expect(names('b', ...three)).toEqual([]);
  expect(names('c', ...three)).toEqual([]);
});

test('no alias is released when the last binding of a chain can move', () => {
  expect(names('a', 'a: x>y', 'b: y>z')).toEqual([]);
  expect(names('b', 'a: x>y', 'b: y>z')).toEqual([]);
});

test('no alias is released for a binding that keeps its own', () => {
  expect(names('a', 'a: x>y', 'b: y>y')).toEqual([]);
});

test('a binding that waits for a member of a cycle is not part of the cycle', () => {
  const world = ['a: w>y', 'b: x>y', 'c: y>x'];
  expect(names('a', ...world)).toEqual([]);
});

test('no alias is released when a binding outside of the cycle would become its owner', () => {
  const circle = ['b: x>y', 'd: y>x'];
  expect(names('b', ...circle)).toEqual(['b', 'd']);
  // The binding holds no alias and requests x, with a smaller id than d.
  expect(names('b', ...circle, 'c: >x')).toEqual([]);
  expect(names('b', ...circle, 'e: >x')).toEqual(['b', 'd']);
  // A binding that released its alias has priority over bindings that never had one.
  expect(names('b', ...circle, 'a: >y')).toEqual(['b', 'd']);
});

test('in every permutation of aliases exactly one binding of each cycle releases its alias', () => {
  const aliases = ['p', 'q', 'r', 's', 't'];
  fc.assert(
    fc.property(fc.shuffledSubarray(aliases, { minLength: 5 }), (wanted) => {
      const world = worldOf(...aliases.map((holds, index) => `${index}: ${holds}>${wanted[index]}`));
      const all = aliases.map((_alias, index) => circleToBreak(String(index), world));
      const broken = all.filter((circle) => circle.length > 0);
      const members = broken.flat().map(({ name }) => name);
      const moving = aliases.filter((alias, index) => alias !== wanted[index]);
      expect(members).toHaveLength(moving.length);
      expect(new Set(members).size).toBe(moving.length);
      for (const [self, ...rest] of broken) expect(rest.every((one) => one.id > (self?.id ?? ''))).toBe(true);
    }),
  );
});
