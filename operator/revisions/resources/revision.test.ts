import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { policyRevisionSchema } from '#resources/policy-revision';
import { policyNameHash } from '#resources/revision-labels';
import { policyObject, sectionOf } from '../../testing/objects.ts';
import { makeRevision, makeRevisionContent } from './revision.ts';

const policy = { name: 'guard', uid: 'uid-of-guard', generation: 3 };
const id = '01990000-0000-7000-8000-000000000001';

test('a revision contains the policy as it was when recorded', () => {
  const { spec } = policyObject('guard', {
    change: 'a-token',
    tests: [{ name: 't', stage: 'request', messages: [{ role: 'user', content: 'hello' }], expect: 'Pass' }],
  });
  const object = makeRevision(id, 3, makeRevisionContent(policy, spec));
  expect(policyRevisionSchema.safeParse(object).error?.issues).toBeUndefined();
  return expect(stringify(object)).toMatchFileSnapshot('../testdata/revision.yaml');
});

test('the definition of a revision is canonical: the order of its members does not matter', () => {
  const { spec } = policyObject('guard');
  const { request, response, providers } = spec.definition;
  const one = makeRevisionContent(policy, spec);
  const other = makeRevisionContent(policy, { ...spec, definition: { providers, response, request } });
  expect(other.definitionDigest).toBe(one.definitionDigest);
  expect(other.definition).toBe(one.definition);
});

test('a revision counts the rules of both sections and lists each kind once, in order', () => {
  const regex = {
    id: 'r',
    kind: 'regex',
    timeoutMs: 10,
    action: { type: 'deny' },
    regex: { engine: 're2-1.1.20251105', pattern: 'x', caseSensitive: true },
  } as const;
  const request = { ...sectionOf('a'), additional: [{ ...regex, mode: 'observe' as const }] };
  const { spec } = policyObject('guard', { definition: { request, response: sectionOf('b'), providers: [] } });
  expect(makeRevisionContent(policy, spec)).toMatchObject({ ruleCount: 3, ruleKinds: ['regex', 'stop_list'] });
});

test('the hash of the longest policy name fits into a label', () => {
  expect(policyNameHash('a'.repeat(253))).toMatch(/^[0-9a-f]{40}$/);
});
