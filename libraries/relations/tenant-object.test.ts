import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agentSubject, readAgentSubject, readUserSubject } from './subject.ts';
import { collectionObject, groupObject, isGroupOf, readCollectionObject, readGroupObject } from './tenant-object.ts';
import { checkTuple } from './tuple.ts';

const id = '0190b0c2-7d3b-7a54-9a55-000000000001';
const name = fc.oneof(
  fc.string({ minLength: 1, maxLength: 40, unit: 'binary' }),
  fc.string({ minLength: 1, maxLength: 255, unit: fc.constantFrom('/', '%', '|', '2', 'F', 'a', '#', 'ж') }),
);

test('groups and collections carry their tenant, whose slash is encoded', () => {
  expect(collectionObject('acme', id)).toBe(`collection:acme/${id}`);
  expect(groupObject('acme', 'staff/berlin')).toBe('group:acme/staff/berlin');
  expect(groupObject('acme/staff', 'berlin')).toBe('group:acme%2Fstaff/berlin');
});

test('groups of the same name in two tenants, and two names in one tenant, are different objects', () => {
  fc.assert(
    fc.property(fc.tuple(name, name), fc.tuple(name, name), ([tenant, group], [other, second]) => {
      const same = tenant === other && group === second;
      expect(groupObject(tenant, group) === groupObject(other, second)).toBe(same);
      expect(isGroupOf(other, groupObject(tenant, group))).toBe(tenant === other);
      const found = readCollectionObject(other, collectionObject(tenant, id));
      expect(found).toBe(tenant === other ? id : undefined);
    }),
    { numRuns: 3_000 },
  );
});

test('every tenant and group name yields objects that a store accepts, and short names are read back', () => {
  fc.assert(
    fc.property(name, name, (tenant, group) => {
      const object = groupObject(tenant, group);
      checkTuple({ subject: 'user:a', relation: 'member', object });
      checkTuple({ subject: `${object}#member`, relation: 'reader', object: collectionObject(tenant, id) });
      expect([group, expect.stringMatching(/^sha256:[0-9a-f]{64}$/)]).toContainEqual(readGroupObject(tenant, object));
    }),
    { numRuns: 3_000 },
  );
});

test('an encoded group name of 140 characters is kept, one of 141 is hashed', () => {
  expect(readGroupObject('acme', groupObject('acme', 'a'.repeat(140)))).toBe('a'.repeat(140));
  expect(readGroupObject('acme', groupObject('acme', 'a'.repeat(141)))).toMatch(/^sha256:/);
  expect(groupObject('a'.repeat(100), 'g')).toBe(`group:${'a'.repeat(100)}/g`);
  expect(groupObject('a'.repeat(101), 'g')).toMatch(/^group:\|[0-9a-f]{64}\/g$/);
});

test('an agent is encoded as a user is, and neither is read as the other', () => {
  const agent = agentSubject({ issuer: 'https://issuer.example', subject: 'a|b' });
  expect(agent).toBe('agent:https%3A//issuer.example|a%7Cb');
  expect(readAgentSubject(agent)).toEqual({ issuer: 'https://issuer.example', subject: 'a|b' });
  expect(readUserSubject(agent)).toBeUndefined();
});
