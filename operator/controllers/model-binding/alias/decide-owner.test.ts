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

test('a binding without a competitor owns its alias', () => {
  expect(decideOwner(claim('b'), [], [])).toEqual(owner);
  expect(decideOwner(claim('b'), [claim('a', { alias: 'other' }), claim('c', { gateway: 'other' })], [])).toEqual(
    owner,
  );
});

test('the binding whose route holds the alias owns it, even if its spec now names another alias', () => {
  expect(decideOwner(claim('a'), [claim('b')], [hold('b')])).toEqual(conflict('b'));
  expect(decideOwner(claim('b'), [claim('a')], [hold('b')])).toEqual(owner);
  expect(decideOwner(claim('a'), [], [hold('b')])).toEqual(conflict('b'));
});

test('without a route the smallest id owns the alias, and a binding without an id comes last', () => {
  expect(decideOwner(claim('a', { id: '2' }), [claim('b', { id: '1' })], [])).toEqual(conflict('b'));
  expect(decideOwner(claim('b', { id: '1' }), [claim('a', { id: '2' })], [])).toEqual(owner);
  expect(decideOwner(claim('a', { id: undefined }), [claim('b')], [])).toEqual(conflict('b'));
  expect(decideOwner(claim('a', { id: undefined }), [claim('b', { id: undefined })], [])).toEqual(owner);
});

test('without a route a binding that released its alias comes first', () => {
  const aside = claim('b', { id: '2', aside: true });
  expect(decideOwner(claim('a', { id: '1' }), [aside], [])).toEqual(conflict('b'));
  expect(decideOwner(aside, [claim('a', { id: '1' })], [])).toEqual(owner);
  expect(decideOwner(aside, [claim('a', { id: '1', aside: true })], [])).toEqual(conflict('a'));
  expect(decideOwner(aside, [claim('a')], [hold('a')])).toEqual(conflict('a'));
});

test('a binding that is being deleted owns an alias only while its route holds it', () => {
  expect(decideOwner(claim('b', { id: '2' }), [claim('a', { id: '1', deleting: true })], [])).toEqual(owner);
  expect(decideOwner(claim('b'), [claim('a', { deleting: true })], [hold('a')])).toEqual(conflict('a'));
});

test('of two routes with one alias the smaller id decides the owner', () => {
  const routes = [hold('b'), hold('a')];
  expect(decideOwner(claim('b'), [claim('a')], routes)).toEqual(conflict('a'));
  expect(decideOwner(claim('a'), [claim('b')], routes)).toEqual(owner);
});

test('an id belongs to the binding whose route has it, else to the first binding by name', () => {
  const same = { id: 'one' };
  const other = claim('b', { ...same, alias: 'else' });
  expect(decideOwner(other, [claim('a', same)], [])).toEqual({ kind: 'id_conflict', owner: 'a' });
  const holding = hold('b', { bindingId: 'one', alias: 'else' });
  expect(decideOwner(other, [claim('a', same)], [holding])).toEqual(owner);
  expect(decideOwner(claim('a', same), [other], [holding])).toEqual({ kind: 'id_conflict', owner: 'b' });
});
