import { describe, expect, test } from 'vitest';
import { assembleBundle, type BundleInput } from './assemble-bundle.ts';
import { defaultBundleLimits } from './bundle.ts';
import { digestOf } from './canonical.ts';
import { type BaselineRule, classifierProfile } from './policy.ts';

const term: BaselineRule = {
  id: 'term',
  kind: 'stop_list',
  timeoutMs: 20,
  action: { type: 'deny' },
  stopList: { terms: ['x'], match: 'token', caseSensitive: true },
};
const detector: BaselineRule = {
  id: 'detect',
  kind: 'external_pipeline',
  timeoutMs: 20,
  action: { type: 'deny' },
  externalPipeline: { provider: 'pii', contract: 'platform.guardrail-runtime.detector/v1' },
};
const classified: BaselineRule = {
  id: 'classify',
  kind: 'llm_classifier',
  timeoutMs: 20,
  action: { type: 'deny' },
  llmClassifier: { provider: 'pii', profile: classifierProfile, instruction: { version: '1', text: 'x' } },
};
const classifier = {
  name: 'small',
  kind: 'classifier',
  endpoint: 'http://127.0.0.1:1/c',
  model: 'm',
  credential: 'c',
} as const;
const approved: BundleInput['approved'] = [
  { name: 'zeta', kind: 'detector', endpoint: 'http://127.0.0.1:1/z', credential: 'z' },
  { name: 'pii', kind: 'detector', endpoint: 'http://127.0.0.1:1/d', credential: 'key' },
  { name: 'echo', kind: 'model', endpoint: 'http://127.0.0.1:1/v1', enabled: true },
];

function input(rule: BaselineRule, providers: readonly { name: string; credential: string }[] = []): BundleInput {
  return {
    policyId: 'p',
    revision: '3',
    definition: {
      request: { deadlineMs: 250, baseline: [rule], additional: [] },
      response: { deadlineMs: 250, baseline: [term], additional: [] },
      providers: providers.map(({ name, credential }) => ({ name, credentialRef: { name: credential } })),
    },
    contentProfile: 'gateway-1.5.0-chat-webhook-v2',
    limits: defaultBundleLimits,
    approved,
  };
}

describe('assembling a bundle', () => {
  test('a bundle has the digest of its canonical form, the same one for the same content', () => {
    const first = assembleBundle(input(term));
    const second = assembleBundle({ ...input(term), limits: { ...defaultBundleLimits } });
    if (first.kind === 'refused') throw new Error(first.message);
    expect(first.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(first.digest).toBe(digestOf(first.bundle));
    expect(second).toEqual(first);
    expect(assembleBundle({ ...input(term), revision: '4' })).not.toMatchObject({ digest: first.digest });
  });

  test('shared rules come before the baseline of both sections, and the bundle does not have the member', () => {
    const shared = { ...term, id: 'house' };
    const { definition } = input(term);
    const built = assembleBundle({ ...input(term), definition: { ...definition, shared: [shared] } });
    const section = { deadlineMs: 250, baseline: [shared, term], additional: [] };
    expect(built).toMatchObject({ kind: 'assembled', bundle: { policies: [{ request: section, response: section }] } });
    expect(JSON.stringify(built)).not.toContain('"shared"');
  });

  test('a shared rule whose id a section uses, or whose time is above a deadline, is refused', () => {
    const { definition } = input(term);
    for (const shared of [term, { ...term, id: 'house', timeoutMs: 251 }]) {
      const built = assembleBundle({ ...input(term), definition: { ...definition, shared: [shared] } });
      expect(built).toMatchObject({ kind: 'refused', reason: 'bundle_invalid' });
    }
  });

  test('a provider that only a shared rule names is copied into the bundle, and must be listed', () => {
    const shared = [{ ...detector, id: 'house' }];
    const one = input(term, [{ name: 'pii', credential: 'key' }]);
    expect(assembleBundle({ ...one, definition: { ...one.definition, shared } })).toMatchObject({
      kind: 'assembled',
      bundle: { providers: [{ name: 'pii' }] },
    });
    const unlisted = input(term);
    expect(assembleBundle({ ...unlisted, definition: { ...unlisted.definition, shared } })).toMatchObject({
      reason: 'provider_unknown',
    });
  });

  test('a bundle contains the approved entries that the policy names, sorted by name, in whatever order the policy names them', () => {
    const both = [
      { name: 'zeta', credential: 'z' },
      { name: 'pii', credential: 'key' },
    ];
    const one = assembleBundle(input(detector, both));
    const other = assembleBundle(input(detector, both.toReversed()));
    expect(one).toMatchObject({ kind: 'assembled', bundle: { providers: [{ name: 'pii' }, { name: 'zeta' }] } });
    expect(other).toMatchObject({ digest: one.kind === 'assembled' ? one.digest : '' });
  });

  test.each([
    ['a profile that is not supported', { ...input(term), contentProfile: 'other' }, 'profile_unsupported', 'other'],
    ['a provider that is not approved', input(term, [{ name: 'no', credential: 'k' }]), 'provider_unknown', 'no'],
    ['a model as a detector', input(term, [{ name: 'echo', credential: 'k' }]), 'provider_unknown', 'echo'],
    [
      'another credential',
      input(detector, [{ name: 'pii', credential: 'k' }]),
      'provider_unknown',
      'spec.definition.providers[0].credentialRef.name is "k", but "key" is the approved credential of the provider pii: write that one there',
    ],
    [
      'a provider that is approved and not listed',
      input(detector),
      'provider_unknown',
      'add { name: pii, credentialRef: { name: key } } to spec.definition.providers, or correct the name in the rule',
    ],
    [
      'a provider that is neither approved nor listed',
      { ...input(detector), approved: approved.slice(0, 1) },
      'provider_unknown',
      'add { name: pii, credentialRef: { name: CREDENTIAL } } to spec.definition.providers, or correct the name',
    ],
    [
      'a detector for a classifier where a classifier is approved',
      { ...input(classified, [{ name: 'pii', credential: 'key' }]), approved: [...approved, classifier] },
      'provider_unknown',
      'but the provider pii is a detector: name an approved classifier in the rule and in spec.definition.providers',
    ],
    [
      'a detector for a classifier where no classifier is approved',
      input(classified, [{ name: 'pii', credential: 'key' }]),
      'provider_unknown',
      'and no classifier is approved: add one to the approved providers, or write the rule with the kind external_pipeline',
    ],
    ['a policy id that no header can carry', { ...input(term), policyId: 'a b' }, 'bundle_invalid', ''],
  ] as const)('a bundle is refused for %s', (_, wrong, reason, part) => {
    const refused = assembleBundle(wrong);
    expect(refused).toMatchObject({ kind: 'refused', reason });
    expect(refused.kind === 'refused' ? refused.message : '').toContain(part);
  });

  test('a bundle of 716,800 bytes is assembled, a bundle of 716,801 bytes is refused', () => {
    const sized = (length: number): BundleInput => {
      const terms = Array.from({ length: 700 }, (_, at) => String(at).padStart(1_000, 'x'));
      return input({ ...term, stopList: { ...term.stopList, terms: [...terms, 'y'.repeat(length)] } });
    };
    const small = assembleBundle(sized(1));
    const room = 716_800 - (small.kind === 'assembled' ? small.bytes.length : 0);
    const fill = (extra: number): BundleInput => {
      const wanted = sized(1);
      const { baseline } = wanted.definition.request;
      const terms = Array.from({ length: Math.floor((room + extra) / 1_003) }, (_, at) => `z${at}`.padEnd(1_000, 'z'));
      const left = room + extra - terms.length * 1_003;
      const [rule] = baseline;
      if (rule?.kind !== 'stop_list') throw new Error('the first rule is the list');
      const list = [...rule.stopList.terms, ...terms, 'w'.repeat(left - 3)];
      return input({ ...rule, stopList: { ...rule.stopList, terms: list } });
    };
    expect(assembleBundle(fill(0))).toMatchObject({ kind: 'assembled', bytes: { length: 716_800 } });
    expect(assembleBundle(fill(1))).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('716801 bytes'),
    });
  });
});
