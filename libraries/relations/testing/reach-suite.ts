import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ObjectType } from '../model.ts';
import { type Relations, relationLimits } from '../ports.ts';
import type { Tuple } from '../tuple.ts';

const ann = 'user:ann';
const names = ['a', 'b', 'c', 'd'];
const t = (subject: string, relation: string, object: string): Tuple => ({ subject, relation, object });
/** Relations that follow from tuples and groups only, and relations that also follow from others. */
const asked: readonly (readonly [ObjectType, string])[] = [
  ['agent', 'view'],
  ['agent', 'invoke'],
  ['collection', 'reader'],
  ['group', 'member'],
];

/** The obligations of lists in parts and of checks in batches, for each store. */
export function reachSuite(open: () => Promise<Relations>): void {
  async function given(...tuples: readonly Tuple[]): Promise<Relations> {
    const relations = await open();
    for (let at = 0; at < tuples.length; at += relationLimits.tuples) {
      await relations.grant(tuples.slice(at, at + relationLimits.tuples));
    }
    return relations;
  }
  /** All objects, read in windows. */
  async function inWindows(
    relations: Relations,
    [type, relation]: readonly [ObjectType, string],
    limit: number,
    claimed: readonly string[],
  ): Promise<readonly string[]> {
    const found: string[] = [];
    for (let from = `${type}:`; ; ) {
      const next = await relations.nextObjects(ann, relation, type, { from, limit: limit + 1 }, claimed);
      found.push(...next.slice(0, limit));
      const first = next[limit];
      if (first === undefined) return found;
      from = first;
    }
  }

  describe('parts of a list of objects', () => {
    test('windows and batches agree with single checks for random relations, with nested groups and claims', async () => {
      const pick = <T>(from: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...from);
      const people = pick([ann, 'user:bob', 'agent:x', ...names.map((name) => `group:${name}#member`)]);
      const object = (type: string) => pick(names.map((name) => `${type}:${name}`));
      const tuple = fc.oneof(
        fc.tuple(people, pick(['view', 'invoke']), object('agent')),
        fc.tuple(people, pick(['reader', 'writer']), object('collection')),
        fc.tuple(object('collection'), fc.constant('parent'), object('collection')),
        fc.tuple(people, fc.constant('member'), object('group')),
      );
      const claims = fc.uniqueArray(object('group'), { maxLength: 2 });
      await fc.assert(
        fc.asyncProperty(
          fc.array(tuple, { minLength: 1, maxLength: 14 }),
          claims,
          fc.integer({ min: 1, max: 5 }),
          async (made, claimed, limit) => {
            const tuples = made.map(([subject, relation, object]) => t(subject, relation, object));
            const valid = tuples.filter(({ subject, object }) => subject !== `${object}#member` && subject !== object);
            fc.pre(valid.length > 0);
            await using relations = await given(...valid);
            for (const [type, relation] of asked) {
              const objects = names.map((name) => `${type}:${name}`);
              const single = await Promise.all(objects.map((one) => relations.check(ann, relation, one, claimed)));
              const check = relations.checkerOf(ann, claimed);
              expect(await Promise.all(objects.map((one) => check(relation, one)))).toEqual(single);
              expect(await relations.checkEach(ann, relation, objects, claimed)).toEqual(single);
              const allowed = objects.filter((_one, at) => single[at]);
              expect(await inWindows(relations, [type, relation], limit, claimed)).toEqual(allowed);
            }
          },
        ),
        { numRuns: 12 },
      );
    });

    test('a page of objects begins at its first object and has at most as many as its limit', async () => {
      const ids = Array.from({ length: 250 }, (_one, at) => `agent:${String(at).padStart(3, '0')}`);
      await using relations = await given(
        ...ids.map((id, at) => t(at % 2 === 0 ? ann : 'group:g#member', 'view', id)),
        t(ann, 'view', ids[1] as string),
        t(ann, 'invoke', 'agent:zzz'),
        t('user:bob', 'view', 'agent:zzz'),
      );
      const next = (from: string | undefined, limit: number) =>
        relations.nextObjects(ann, 'view', 'agent', { limit, ...(from === undefined ? {} : { from }) }, ['group:g']);
      expect(await next(undefined, 250)).toEqual(ids);
      expect(await next(undefined, 251)).toEqual(ids);
      expect(await next(undefined, 249)).toEqual(ids.slice(0, 249));
      expect(await next('agent:100', 1)).toEqual(['agent:100']);
      expect(await next('agent:100x', 2)).toEqual(['agent:101', 'agent:102']);
      expect(await next('agent:249', 5)).toEqual(['agent:249']);
      expect(await next('agent:249x', 5)).toEqual([]);
      const until = (to: string) =>
        relations.nextObjects(ann, 'view', 'agent', { from: 'agent:100', to, limit: 3 }, ['group:g']);
      expect(await until('agent:100')).toEqual(['agent:100']);
      expect(await until('agent:101x')).toEqual(['agent:100', 'agent:101']);
      expect(await until('agent:099x')).toEqual([]);
      await expect(next(undefined, 0)).rejects.toMatchObject({ code: 'too_many' });
      const each = await relations.checkEach(ann, 'view', [...ids, 'agent:zzz'], ['group:g']);
      expect(each).toEqual([...ids.map(() => true), false]);
    });

    test('the members of a group have the rights of the group and of the groups that contain it', async () => {
      await using relations = await given(
        t('group:inner#member', 'member', 'group:outer'),
        t('group:inner#member', 'view', 'agent:a'),
        t('group:outer#member', 'view', 'agent:b'),
        t(ann, 'member', 'group:inner'),
        t(ann, 'view', 'agent:c'),
      );
      const next = (subject: string) => relations.nextObjects(subject, 'view', 'agent', { limit: 5 });
      expect(await next('group:inner#member')).toEqual(['agent:a', 'agent:b']);
      expect(await next('group:outer#member')).toEqual(['agent:b']);
      expect(await next(ann)).toEqual(['agent:a', 'agent:b', 'agent:c']);
      await expect(next('group:inner')).rejects.toMatchObject({ code: 'bad_subject' });
    });

    test('a request may claim as many groups as a call', async () => {
      const claimed = Array.from({ length: relationLimits.claimedGroups }, (_one, at) => `group:claimed-${at}`);
      await using relations = await given(t(`${claimed.at(-1)}#member`, 'view', 'agent:a'));
      expect(await relations.nextObjects(ann, 'view', 'agent', { limit: 2 }, claimed)).toEqual(['agent:a']);
      expect(await relations.checkEach(ann, 'view', ['agent:a', 'agent:b'], claimed)).toEqual([true, false]);
      expect(await relations.check(ann, 'view', 'agent:a', claimed)).toBe(true);
    });

    test('checks of a batch follow up to ten levels of parents', async () => {
      const chain = Array.from({ length: 9 }, (_one, at) => `collection:chain-${at}`);
      const children = Array.from({ length: 60 }, (_one, at) => `collection:child-${at}`);
      const last = chain.at(-1) as string;
      await using relations = await given(
        t(ann, 'owner', chain[0] as string),
        ...chain.slice(1).map((object, at) => t(chain[at] as string, 'parent', object)),
        ...children.map((object) => t(last, 'parent', object)),
      );
      const each = (subject: string, relation: string) => relations.checkEach(subject, relation, [...children, last]);
      const all = (answer: boolean) => [...children, last].map(() => answer);
      expect(await each(ann, 'reader')).toEqual(all(true));
      expect(await each(ann, 'writer')).toEqual(all(false));
      expect(await each('user:bob', 'reader')).toEqual(all(false));
    });

    test('checks of a batch have one type of object and a relation of it', async () => {
      await using relations = await given(t(ann, 'view', 'agent:a'));
      expect(await relations.checkEach(ann, 'view', [])).toEqual([]);
      expect(await relations.checkEach(ann, 'view', ['agent:a', 'agent:b', 'agent:a'])).toEqual([true, false, true]);
      await expect(relations.checkEach(ann, 'viewer', ['policy:a', 'model:a'])).rejects.toMatchObject({
        code: 'bad_object',
      });
      await expect(relations.checkEach(ann, 'edit', ['agent:a'])).rejects.toMatchObject({ code: 'unknown_relation' });
    });
  });
}
