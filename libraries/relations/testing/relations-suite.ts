import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { controlPlane } from '../model.ts';
import { type Relations, relationLimits, type Tuple } from '../ports.ts';
import { RelationsModelError } from '../relations-error.ts';
import { userSubject } from '../subject.ts';

/** Opens an empty store for one test. */
type OpenEmptyRelations = () => Promise<Relations>;

const ann = userSubject({ issuer: 'https://issuer.example', subject: 'ann' });
const bob = userSubject({ issuer: 'https://issuer.example', subject: 'bob' });
const t = (subject: string, relation: string, object: string): Tuple => ({ subject, relation, object });

async function allTuples(relations: Relations, limit: number): Promise<readonly Tuple[]> {
  const all: Tuple[] = [];
  let after: string | undefined;
  do {
    const page = await relations.listTuples({ limit, ...(after === undefined ? {} : { after }) });
    expect(page.tuples.length).toBeLessThanOrEqual(limit);
    all.push(...page.tuples);
    after = page.next ?? undefined;
  } while (after !== undefined);
  return all;
}

/** The obligations of every adapter of the port Relations. */
export function relationsSuite(open: OpenEmptyRelations): void {
  const given = async (...tuples: Tuple[]): Promise<Relations> => {
    const relations = await open();
    if (tuples.length > 0) await relations.grant(tuples);
    return relations;
  };

  describe('checks of relations', () => {
    test('every check in an empty relation store is false', async () => {
      await using relations = await given();
      expect(await relations.check(ann, 'administer', controlPlane)).toBe(false);
      expect(await relations.check(ann, 'reader', 'collection:a')).toBe(false);
    });

    test.each([
      ['another subject', bob, 'administer', controlPlane],
      [
        'the same user name at another issuer',
        userSubject({ issuer: 'https://other.example', subject: 'ann' }),
        'administer',
        controlPlane,
      ],
      ['an agent of the same name', 'agent:ann', 'administer', controlPlane],
      ['another object', ann, 'administer', 'control_plane:other'],
      ['another relation', ann, 'view', 'agent:control-plane'],
    ])('a granted relation is not granted to %s', async (_what, subject, relation, object) => {
      await using relations = await given(t(ann, 'administer', controlPlane));
      expect(await relations.check(ann, 'administer', controlPlane)).toBe(true);
      expect(await relations.check(subject, relation, object)).toBe(false);
    });

    test.each([
      ['owner', { owner: true, writer: true, reader: true }],
      ['writer', { owner: false, writer: true, reader: true }],
      ['reader', { owner: false, writer: false, reader: true }],
    ])('the %s of a collection has exactly the rights of that relation', async (relation, expected) => {
      await using relations = await given(t(ann, relation, 'collection:a'));
      for (const [asked, answer] of Object.entries(expected)) {
        expect([asked, await relations.check(ann, asked, 'collection:a')]).toEqual([asked, answer]);
      }
    });

    test('readers of a collection read its children and documents; writers and owners do not write them', async () => {
      await using relations = await given(
        t(ann, 'owner', 'collection:top'),
        t('collection:top', 'parent', 'collection:middle'),
        t('collection:middle', 'parent', 'collection:low'),
        t('collection:low', 'parent', 'document:inside'),
        t(bob, 'viewer', 'document:alone'),
      );
      expect(await relations.check(ann, 'reader', 'collection:low')).toBe(true);
      expect(await relations.check(ann, 'writer', 'collection:low')).toBe(false);
      expect(await relations.check(ann, 'owner', 'collection:middle')).toBe(false);
      expect(await relations.check(ann, 'viewer', 'document:inside')).toBe(true);
      expect(await relations.check(ann, 'viewer', 'document:alone')).toBe(false);
      expect(await relations.check(bob, 'viewer', 'document:alone')).toBe(true);
      expect(await relations.check(bob, 'viewer', 'document:inside')).toBe(false);
    });

    test('the parent of a collection grants its readers and is not a reader itself', async () => {
      await using relations = await given(
        t('collection:top', 'parent', 'collection:low'),
        t(ann, 'reader', 'collection:low'),
      );
      expect(await relations.check(ann, 'reader', 'collection:top')).toBe(false);
    });

    test('view of an agent does not imply invoke, nor the reverse', async () => {
      await using relations = await given(t(ann, 'view', 'agent:a'), t(bob, 'invoke', 'agent:a'));
      expect(await relations.check(ann, 'invoke', 'agent:a')).toBe(false);
      expect(await relations.check(bob, 'view', 'agent:a')).toBe(false);
    });

    test('members of nested groups, including agents, have the relations of the group', async () => {
      await using relations = await given(
        t(ann, 'member', 'group:inner'),
        t('agent:helper', 'member', 'group:inner'),
        t('group:inner#member', 'member', 'group:outer'),
        t('group:outer#member', 'writer', 'collection:a'),
      );
      expect(await relations.check(ann, 'reader', 'collection:a')).toBe(true);
      expect(await relations.check('agent:helper', 'writer', 'collection:a')).toBe(true);
      expect(await relations.check(ann, 'owner', 'collection:a')).toBe(false);
      expect(await relations.check(ann, 'member', 'group:outer')).toBe(true);
      expect(await relations.check(bob, 'reader', 'collection:a')).toBe(false);
    });

    test('checks across cycles of groups and parents end with the right answer', async () => {
      await using relations = await given(
        t('group:a#member', 'member', 'group:b'),
        t('group:b#member', 'member', 'group:a'),
        t(ann, 'member', 'group:a'),
        t('group:b#member', 'reader', 'collection:x'),
        t('collection:x', 'parent', 'collection:y'),
        t('collection:y', 'parent', 'collection:x'),
      );
      expect(await relations.check(ann, 'reader', 'collection:y')).toBe(true);
      expect(await relations.check(bob, 'reader', 'collection:y')).toBe(false);
      expect(await relations.check(bob, 'member', 'group:b')).toBe(false);
    });

    test('a chain of 20 relations grants the relation', async () => {
      const steps = Array.from({ length: 19 }, (_, at) => t(`group:g${at}#member`, 'member', `group:g${at + 1}`));
      await using relations = await given(t(ann, 'member', 'group:g0'), ...steps);
      expect(await relations.check(ann, 'member', 'group:g19')).toBe(true);
      expect(await relations.check(bob, 'member', 'group:g19')).toBe(false);
    });

    test('a chain of 100 relations grants the relation or is refused, and never grants an absent one', async () => {
      const steps = Array.from({ length: 99 }, (_, at) => t(`group:g${at}#member`, 'member', `group:g${at + 1}`));
      await using relations = await given(...steps, t(ann, 'member', 'group:g0'));
      for (const [subject, right] of [
        [ann, true],
        [bob, false],
      ] as const) {
        const answer = await relations.check(subject, 'member', 'group:g99').catch((error: unknown) => error);
        if (answer instanceof RelationsModelError) expect(answer.code).toBe('too_complex');
        else expect(answer).toBe(right);
      }
    });
  });

  describe('groups and objects of a subject', () => {
    const groups = (count: number): readonly string[] =>
      Array.from({ length: count }, (_, at) => `group:claimed-${at}`);

    test('groups of a user are direct, nested and claimed ones, in order and once, even in a cycle', async () => {
      await using relations = await given(
        t(ann, 'member', 'group:t/b'),
        t('group:t/b#member', 'member', 'group:t/c'),
        t('group:t/c#member', 'member', 'group:t/b'),
        t('group:t/claimed#member', 'member', 'group:t/a'),
        t(bob, 'member', 'group:t/other'),
      );
      expect(await relations.groupsOf(ann)).toEqual(['group:t/b', 'group:t/c']);
      expect(await relations.groupsOf(ann, ['group:t/claimed', 'group:t/c'])).toEqual([
        ...['group:t/a', 'group:t/b', 'group:t/c', 'group:t/claimed'],
      ]);
      expect(await relations.groupsOf('user:nobody')).toEqual([]);
    });

    test('a claimed group counts for one check and is not stored', async () => {
      await using relations = await given(t('group:t/staff#member', 'reader', 'collection:t/one'));
      expect(await relations.check(ann, 'reader', 'collection:t/one', ['group:t/staff'])).toBe(true);
      expect(await relations.check(ann, 'writer', 'collection:t/one', ['group:t/staff'])).toBe(false);
      expect(await relations.check(ann, 'reader', 'collection:t/one', ['group:u/staff'])).toBe(false);
      expect(await relations.check(ann, 'reader', 'collection:t/one')).toBe(false);
    });

    test('objects of a user are those that a check allows: by groups, other relations and parents', async () => {
      await using relations = await given(
        t(ann, 'owner', 'collection:t/own'),
        t('collection:t/own', 'parent', 'collection:t/child'),
        t('collection:t/child', 'parent', 'collection:t/grandchild'),
        t('group:t/staff#member', 'writer', 'collection:t/staff'),
        t(bob, 'owner', 'collection:t/foreign'),
        t(ann, 'invoke', 'agent:own'),
      );
      const own = ['collection:t/child', 'collection:t/grandchild', 'collection:t/own'];
      expect(await relations.objectsOf(ann, 'reader', 'collection')).toEqual(own);
      const withClaim = await relations.objectsOf(ann, 'reader', 'collection', ['group:t/staff']);
      expect(withClaim).toEqual([...own, 'collection:t/staff']);
      expect(await relations.objectsOf(ann, 'writer', 'collection')).toEqual(['collection:t/own']);
      expect(await relations.objectsOf(ann, 'invoke', 'agent')).toEqual(['agent:own']);
      expect(await relations.objectsOf(ann, 'view', 'agent')).toEqual([]);
    });

    test('lists of objects and groups agree with checks for random relations', async () => {
      const names = ['a', 'b', 'c', 'd'];
      const people = [ann, bob, ...names.map((name) => `group:${name}#member`)];
      const pick = <T>(from: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...from);
      const collection = pick(names).map((name) => `collection:${name}`);
      const tuple = fc.oneof(
        fc.tuple(pick(people), pick(['owner', 'writer', 'reader']), collection),
        fc.tuple(collection, fc.constant('parent'), collection),
        fc.tuple(
          pick(people),
          fc.constant('member'),
          pick(names).map((name) => `group:${name}`),
        ),
      );
      const claims = fc.uniqueArray(
        pick(names).map((name) => `group:${name}`),
        { maxLength: 2 },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(tuple, { minLength: 1, maxLength: 14 }), claims, async (made, claimed) => {
          const tuples = made.map(([subject, relation, object]) => t(subject, relation, object));
          const valid = tuples.filter(
            ({ subject, relation, object }) =>
              subject !== `${object}#member` &&
              subject !== object &&
              (relation !== 'owner' || subject.startsWith('user:')),
          );
          fc.pre(valid.length > 0);
          await using relations = await given(...valid);
          for (const relation of ['owner', 'writer', 'reader'] as const) {
            const allowed: string[] = [];
            for (const object of names.map((name) => `collection:${name}`)) {
              if (await relations.check(ann, relation, object, claimed)) allowed.push(object);
            }
            expect(await relations.objectsOf(ann, relation, 'collection', claimed)).toEqual(allowed);
          }
          const member: string[] = [];
          for (const group of names.map((name) => `group:${name}`)) {
            if (await relations.check(ann, 'member', group, claimed)) member.push(group);
          }
          expect(await relations.groupsOf(ann, claimed)).toEqual(member);
        }),
        { numRuns: 12 },
      );
    });

    test('more groups than a page are listed completely', async () => {
      await using relations = await given();
      const all = Array.from({ length: 250 }, (_, at) => `group:g${String(at).padStart(3, '0')}`);
      for (let at = 0; at < all.length; at += relationLimits.tuples) {
        await relations.grant(all.slice(at, at + relationLimits.tuples).map((group) => t(ann, 'member', group)));
      }
      expect(await relations.groupsOf(ann)).toEqual(all);
    });

    test('tuples of an object are complete, in order, and without those of other objects', async () => {
      await using relations = await given(
        t(bob, 'reader', 'collection:t/a'),
        t(ann, 'owner', 'collection:t/a'),
        t('collection:t/a', 'parent', 'collection:t/b'),
        t(ann, 'reader', 'collection:t/a'),
        t(ann, 'reader', 'collection:t/ab'),
      );
      expect(await relations.tuplesOf('collection:t/a')).toEqual([
        t(ann, 'owner', 'collection:t/a'),
        t(ann, 'reader', 'collection:t/a'),
        t(bob, 'reader', 'collection:t/a'),
      ]);
      expect(await relations.tuplesOf('collection:t/none')).toEqual([]);
    });

    test('a call claims at most 101 groups, each of the form of a group', async () => {
      await using relations = await given();
      expect(await relations.groupsOf(ann, groups(101))).toHaveLength(101);
      await expect(relations.groupsOf(ann, groups(102))).rejects.toMatchObject({ code: 'too_many' });
      await expect(relations.check(ann, 'reader', 'collection:a', ['staff'])).rejects.toBeInstanceOf(
        RelationsModelError,
      );
      await expect(relations.groupsOf('group:a#member')).rejects.toMatchObject({ code: 'bad_subject' });
      await expect(relations.objectsOf(ann, 'invoke', 'collection')).rejects.toMatchObject({
        code: 'unknown_relation',
      });
      await expect(relations.tuplesOf('nonsense:a')).rejects.toMatchObject({ code: 'bad_object' });
    });
  });

  describe('changes of relations', () => {
    test('a grant and a revoke of a relation take effect at the next check', async () => {
      await using relations = await given();
      const tuple = t(ann, 'administer', controlPlane);
      for (let round = 0; round < 10; round += 1) {
        await relations.grant([tuple]);
        expect(await relations.check(ann, 'administer', controlPlane)).toBe(true);
        await relations.revoke([tuple]);
        expect(await relations.check(ann, 'administer', controlPlane)).toBe(false);
      }
    });

    test('granting an existing relation and revoking an absent one change nothing', async () => {
      await using relations = await given(t(ann, 'view', 'agent:a'));
      await relations.grant([t(ann, 'view', 'agent:a'), t(ann, 'view', 'agent:a'), t(bob, 'view', 'agent:a')]);
      expect(await allTuples(relations, 10)).toHaveLength(2);
      await relations.revoke([t(bob, 'view', 'agent:a'), t(bob, 'view', 'agent:b'), t(bob, 'view', 'agent:a')]);
      await relations.revoke([t(bob, 'view', 'agent:a')]);
      expect(await allTuples(relations, 10)).toEqual([t(ann, 'view', 'agent:a')]);
    });

    test('revoking one of two granted relations leaves the other', async () => {
      await using relations = await given(
        t(ann, 'reader', 'collection:a'),
        t(ann, 'member', 'group:g'),
        t('group:g#member', 'reader', 'collection:a'),
      );
      await relations.revoke([t(ann, 'reader', 'collection:a')]);
      expect(await relations.check(ann, 'reader', 'collection:a')).toBe(true);
      await relations.revoke([t(ann, 'member', 'group:g')]);
      expect(await relations.check(ann, 'reader', 'collection:a')).toBe(false);
    });

    test('a replacement removes and adds tuples, and absent and existing ones change nothing', async () => {
      const [first, second] = [
        t('collection:a', 'parent', 'collection:c'),
        t('collection:b', 'parent', 'collection:c'),
      ];
      await using relations = await given(first, t(ann, 'reader', 'collection:b'));
      for (let sent = 0; sent < 2; sent += 1) {
        await relations.replace({ removed: [first], added: [second] });
        expect(await relations.tuplesOf('collection:c')).toEqual([second]);
        expect(await relations.check(ann, 'reader', 'collection:c')).toBe(true);
      }
      await relations.replace({ removed: [second], added: [] });
      expect(await relations.tuplesOf('collection:c')).toEqual([]);
      await relations.replace({ removed: [], added: [first] });
      expect(await relations.tuplesOf('collection:c')).toEqual([first]);
    });

    test('a replacement has 1 to 100 tuples, and no tuple is in both lists', async () => {
      await using relations = await given(t(ann, 'view', 'agent:a0'));
      const tuples = Array.from({ length: relationLimits.tuples + 1 }, (_, at) => t(ann, 'view', `agent:a${at}`));
      const [old = t(ann, 'view', 'agent:a0'), ...others] = tuples;
      await expect(relations.replace({ removed: [], added: [] })).rejects.toMatchObject({ code: 'too_many' });
      await expect(relations.replace({ removed: [old], added: others })).rejects.toMatchObject({ code: 'too_many' });
      await expect(relations.replace({ removed: [old], added: [old] })).rejects.toThrow('removed and added');
      await relations.replace({ removed: [old], added: others.slice(1) });
      expect(await allTuples(relations, relationLimits.page)).toHaveLength(relationLimits.tuples - 1);
    });

    test('no check sees a replacement in part', async () => {
      const [first, second] = [
        t('collection:a', 'parent', 'collection:c'),
        t('collection:b', 'parent', 'collection:c'),
      ];
      await using relations = await given(first, t(ann, 'reader', 'collection:a'), t(ann, 'reader', 'collection:b'));
      const done = new AbortController();
      const seen = (async () => {
        const parents = new Set<number>();
        while (!done.signal.aborted) parents.add((await relations.tuplesOf('collection:c')).length);
        return [...parents];
      })();
      for (let round = 0; round < 20; round += 1) {
        const [removed, added] = round % 2 === 0 ? [[first], [second]] : [[second], [first]];
        await relations.replace({ removed, added });
      }
      done.abort();
      expect(await seen).toEqual([1]);
    });

    test('grants and revokes of the same tuples at the same time all succeed, in any order of the tuples', async () => {
      await using relations = await given();
      const tuples = Array.from({ length: relationLimits.tuples }, (_, at) => t(ann, 'view', `agent:a${at}`));
      const inBothOrders = (change: (tuples: readonly Tuple[]) => Promise<void>) =>
        Promise.all(Array.from({ length: 8 }, (_, at) => change(at % 2 === 0 ? tuples : tuples.toReversed())));
      for (let round = 0; round < 5; round += 1) {
        await inBothOrders((given) => relations.grant(given));
        expect(await allTuples(relations, tuples.length)).toHaveLength(tuples.length);
        await inBothOrders((given) => relations.revoke(given));
        expect(await allTuples(relations, tuples.length)).toEqual([]);
      }
    });

    test('a change of relations has 1 to 100 tuples', async () => {
      await using relations = await given();
      const tuples = Array.from({ length: relationLimits.tuples + 1 }, (_, at) => t(ann, 'view', `agent:a${at}`));
      await expect(relations.grant([])).rejects.toMatchObject({ code: 'too_many' });
      await expect(relations.grant(tuples)).rejects.toMatchObject({ code: 'too_many' });
      await expect(relations.revoke(tuples)).rejects.toMatchObject({ code: 'too_many' });
      await relations.grant(tuples.slice(1));
      expect(await relations.check(ann, 'view', 'agent:a100')).toBe(true);
      expect(await relations.check(ann, 'view', 'agent:a0')).toBe(false);
    });

    test.each<[string, Tuple, string]>([
      ['an unknown type', t(ann, 'view', 'model:a'), 'unknown_relation'],
      ['an unknown relation', t(ann, 'edit', 'agent:a'), 'unknown_relation'],
      ['an inherited property name', t(ann, 'constructor', 'agent:a'), 'unknown_relation'],
      ['a group as a subject instead of its members', t('group:g', 'view', 'agent:a'), 'bad_subject'],
      ['another relation than member', t('group:g#owner', 'view', 'agent:a'), 'bad_subject'],
      ['members of a group as its members', t('group:g#member', 'member', 'group:g'), 'bad_subject'],
      ['everybody', t('user:*', 'view', 'agent:a'), 'bad_subject'],
      ['a group as owner', t('group:g#member', 'owner', 'collection:a'), 'bad_subject'],
      ['an agent as owner', t('agent:a', 'owner', 'collection:a'), 'bad_subject'],
      ['a collection as its own parent', t('collection:a', 'parent', 'collection:a'), 'bad_subject'],
      ['a parent of another tenant', t('collection:t/a', 'parent', 'collection:u/a'), 'bad_subject'],
      ['a parent without a tenant', t('collection:a', 'parent', 'collection:u/a'), 'bad_subject'],
      ['a group of another tenant as reader', t('group:t/a#member', 'reader', 'collection:u/a'), 'bad_subject'],
      ['a group of another tenant as member', t('group:t/a#member', 'member', 'group:u/b'), 'bad_subject'],
      ['an agent as administrator', t('agent:a', 'administer', controlPlane), 'bad_subject'],
      ['a user as parent', t(ann, 'parent', 'collection:a'), 'bad_subject'],
      ['a collection as reader', t('collection:b', 'reader', 'collection:a'), 'bad_subject'],
      ['white space', t('user:a b', 'view', 'agent:a'), 'bad_subject'],
      ['no id', t(ann, 'view', 'agent:'), 'bad_object'],
      ['a second colon', t(ann, 'view', 'agent:a:b'), 'bad_object'],
    ])('a change with %s is refused completely', async (_what, wrong, code) => {
      await using relations = await given();
      const right = t(bob, 'view', 'agent:a');
      await expect(relations.grant([right, wrong])).rejects.toMatchObject({ code });
      await expect(relations.revoke([right, wrong])).rejects.toMatchObject({ code });
      expect(await allTuples(relations, 10)).toEqual([]);
    });

    test('the longest names in a relation are accepted, longer ones refused', async () => {
      await using relations = await given();
      const object = `agent:${'a'.repeat(250)}`;
      const subject = `user:${'a'.repeat(507)}`;
      await relations.grant([t(subject, 'view', object)]);
      expect(await relations.check(subject, 'view', object)).toBe(true);
      await expect(relations.grant([t(subject, 'view', `${object}a`)])).rejects.toMatchObject({ code: 'bad_object' });
      await expect(relations.grant([t(`${subject}a`, 'view', object)])).rejects.toMatchObject({ code: 'bad_subject' });
    });
  });

  describe('arguments of checks', () => {
    test.each([
      ['group:g#member', 'view', 'agent:a', 'bad_subject'],
      ['collection:a', 'parent', 'collection:b', 'bad_subject'],
      ['user:*', 'view', 'agent:a', 'bad_subject'],
      ['', 'view', 'agent:a', 'bad_subject'],
      [ann, 'edit', 'agent:a', 'unknown_relation'],
      [ann, 'view', 'agent:*', 'bad_object'],
    ])('a check of %s %s %s is refused', async (subject, relation, object, code) => {
      await using relations = await given();
      await expect(relations.check(subject, relation, object)).rejects.toMatchObject({ code });
    });

    test('names with SQL or wildcard characters are stored as plain text', async () => {
      const odd = ["agent:'; drop table tuples; --".replaceAll(' ', ''), 'agent:%25', 'agent:ä|x', 'agent:$1'];
      await using relations = await given(...odd.map((object) => t(ann, 'view', object)));
      for (const object of odd) expect(await relations.check(ann, 'view', object)).toBe(true);
      expect(await relations.check(ann, 'view', 'agent:%')).toBe(false);
    });
  });

  describe('pages of relations', () => {
    test.each([1, 7, 100])('pages of %d relations return each relation exactly once', async (limit) => {
      const tuples = Array.from({ length: 23 }, (_, at) => t(at % 2 === 0 ? ann : bob, 'view', `agent:a${at}`));
      await using relations = await given(...tuples);
      const found = await allTuples(relations, limit);
      const line = (tuple: Tuple): string => `${tuple.object} ${tuple.relation} ${tuple.subject}`;
      expect(found.map(line).sort()).toEqual(tuples.map(line).sort());
    });

    test.each([0, 101, 1.5])('a page of %d relations is refused', async (limit) => {
      await using relations = await given();
      await expect(relations.listTuples({ limit })).rejects.toMatchObject({ code: 'too_many' });
    });

    test('text that is not a cursor of the relations list is refused', async () => {
      await using relations = await given(t(ann, 'view', 'agent:a'));
      await expect(relations.listTuples({ limit: 1, after: 'bm9uc2Vuc2U' })).rejects.toMatchObject({
        code: 'bad_cursor',
      });
    });
  });
}
