import { expect, test } from 'vitest';
import { type AliasHolder, type Claimant, decideOwner } from './decide-owner.ts';

function claim(name: string, change: Partial<Claimant> = {}): Claimant {
  return { name, id: `id-${name}`, gateway: 'default', alias: 'gpt', deleting: false, aside: false, ...change };
}

function hold(bindingName: string, change: Partial<AliasHolder> = {}): AliasHolder {
  return { bindingName, bindingId: `id-${bindingName}`, gateway: 'default', alias: 'gpt', ...change };
}

const conflict = (owner: string) => ({ kind: 'alias_conflict', owner });
const owner = { kind: 'owner' };

test('alone it owns its alias', () => {
  expect(decideOwner(claim('b'), [], [])).toEqual(owner);
  expect(decideOwner(claim('b'), [claim('a', { alias: 'other' }), claim('c', { gateway: 'other' })], [])).toEqual(
    owner,
  );
});

test('who holds the route owns the alias, also when it asks for another one by now', () => {
  expect(decideOwner(claim('a'), [claim('b')], [hold('b')])).toEqual(conflict('b'));
  expect(decideOwner(claim('b'), [claim('a')], [hold('b')])).toEqual(owner);
  expect(decideOwner(claim('a'), [], [hold('b')])).toEqual(conflict('b'));
});

test('without a route the smallest id owns it, and one without an id comes last', () => {
  expect(decideOwner(claim('a', { id: '2' }), [claim('b', { id: '1' })], [])).toEqual(conflict('b'));
  expect(decideOwner(claim('b', { id: '1' }), [claim('a', { id: '2' })], [])).toEqual(owner);
  expect(decideOwner(claim('a', { id: undefined }), [claim('b')], [])).toEqual(conflict('b'));
  expect(decideOwner(claim('a', { id: undefined }), [claim('b', { id: undefined })], [])).toEqual(owner);
});

test('without a route one that stands aside for others comes first', () => {
  const aside = claim('b', { id: '2', aside: true });
  expect(decideOwner(claim('a', { id: '1' }), [aside], [])).toEqual(conflict('b'));
  expect(decideOwner(aside, [claim('a', { id: '1' })], [])).toEqual(owner);
  expect(decideOwner(aside, [claim('a', { id: '1', aside: true })], [])).toEqual(conflict('a'));
  expect(decideOwner(aside, [claim('a')], [hold('a')])).toEqual(conflict('a'));
});

test('one that is being deleted does not stand in the way, unless it holds the route', () => {
  expect(decideOwner(claim('b', { id: '2' }), [claim('a', { id: '1', deleting: true })], [])).toEqual(owner);
  expect(decideOwner(claim('b'), [claim('a', { deleting: true })], [hold('a')])).toEqual(conflict('a'));
});

test('of two routes of one alias the one with the smaller id counts', () => {
  const routes = [hold('b'), hold('a')];
  expect(decideOwner(claim('b'), [claim('a')], routes)).toEqual(conflict('a'));
  expect(decideOwner(claim('a'), [claim('b')], routes)).toEqual(owner);
});

test('one id belongs to who holds its route, else to the first name', () => {
  const same = { id: 'one' };
  const other = claim('b', { ...same, alias: 'else' });
  expect(decideOwner(other, [claim('a', same)], [])).toEqual({ kind: 'id_conflict', owner: 'a' });
  const holding = hold('b', { bindingId: 'one', alias: 'else' });
  expect(decideOwner(other, [claim('a', same)], [holding])).toEqual(owner);
  expect(decideOwner(claim('a', same), [other], [holding])).toEqual({ kind: 'id_conflict', owner: 'b' });
});
