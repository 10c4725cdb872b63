import { describe, expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import { canonicalBytes, sha256Hex } from '#contracts/canonical';
import { limits } from '#contracts/limits';
import { classifierProfile, type Definition, detectorContract, type Section } from '#contracts/policy';
import { currentProfile } from '#contracts/profiles';
import type { ApprovedProvider } from '#contracts/providers';
import { revisionOf } from '../controllers/model-binding/testing/snapshots.ts';
import { definitionOf, sectionOf } from '../testing/objects.ts';
import { buildBundle } from './build-bundle.ts';

const approved: readonly ApprovedProvider[] = [
  { name: 'spam', kind: 'detector', endpoint: 'http://127.0.0.1:1/check', credential: 'spam-key' },
  { name: 'judge', kind: 'classifier', endpoint: 'http://127.0.0.1:2/v1', model: 'm', credential: 'judge-key' },
  { name: 'echo', kind: 'model', endpoint: 'http://127.0.0.1:3/v1', enabled: true },
];

function detector(provider: string): Section['baseline'][number] {
  const externalPipeline = { provider, contract: detectorContract } as const;
  return { id: 'asks', kind: 'external_pipeline', timeoutMs: 100, action: { type: 'deny' }, externalPipeline };
}

function classifier(provider: string): Section['baseline'][number] {
  const llmClassifier = { provider, profile: classifierProfile, instruction: { version: '1', text: 'judge' } } as const;
  return { id: 'asks', kind: 'llm_classifier', timeoutMs: 100, action: { type: 'deny' }, llmClassifier };
}

function withRule(rule: Section['baseline'][number], listed: Definition['providers']): Definition {
  const section = sectionOf('portal');
  return { request: { ...section, baseline: [rule] }, response: section, providers: listed };
}

const ref = (name: string, credential: string) => ({ name, credentialRef: { name: credential } });

function build(definition: Definition, contentProfile: string = currentProfile) {
  const revision = revisionOf(3, { definition: canonicalBytes(definition).toString('utf8') });
  return buildBundle({ revision, contentProfile, limits: defaultBundleLimits, approved });
}

function built(definition: Definition) {
  const result = build(definition);
  if (result.kind !== 'built') throw new TypeError(result.message);
  return result;
}

test('a definition is parsed once for all bundles of a revision', () => {
  const definition = canonicalBytes(definitionOf('portal')).toString('utf8');
  const revision = revisionOf(3, { definition });
  const build = (spec: typeof revision) =>
    buildBundle({ revision: spec, contentProfile: currentProfile, limits: defaultBundleLimits, approved });
  const [first, second, other] = [build(revision), build(revision), build(revisionOf(3, { definition }))];
  if (first.kind !== 'built' || second.kind !== 'built' || other.kind !== 'built') throw new TypeError('refused');
  expect(second.definition).toBe(first.definition);
  expect(other.definition).not.toBe(first.definition);
  expect(other.digest).toBe(first.digest);
});

describe('building a bundle', () => {
  test('a bundle contains the revision, the limits and the profile, and its digest is that of its canonical bytes', () => {
    const { bundle, bytes, digest } = built(definitionOf('portal'));
    expect(bundle.policies).toMatchObject([{ id: revisionOf(3).policyId, revision: '3' }]);
    expect(bundle).toMatchObject({ limits: defaultBundleLimits, contentProfile: currentProfile, providers: [] });
    expect(bytes).toEqual(canonicalBytes(bundle));
    expect(digest).toBe(sha256Hex(bytes));
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
  });

  test('bundles of the same content have the same bytes, whatever the order of members', () => {
    const { request, response, providers } = definitionOf('portal');
    const one = built({ request, response, providers });
    const other = built({ providers, response, request });
    expect(other.bytes).toEqual(one.bytes);
    expect(built(definitionOf('harbour')).digest).not.toBe(one.digest);
  });

  test('a bundle copies the providers that the policy lists, with endpoint and credential name', () => {
    const listed = [ref('spam', 'spam-key'), ref('judge', 'judge-key')];
    const { bundle } = built(withRule(detector('spam'), listed));
    expect(bundle.providers.map(({ name }) => name)).toEqual(['judge', 'spam']);
    expect(bundle.providers[1]).toEqual(approved[0]);
  });

  test.each<readonly [string, Definition, string]>([
    ['a name that is not approved', withRule(detector('x'), [ref('x', 'k')]), 'x'],
    ['another credential', withRule(detector('spam'), [ref('spam', 'other')]), 'spam-key'],
    ['a provider of models', withRule(detector('echo'), [ref('echo', 'k')]), 'echo'],
    ['a detector where a classifier is needed', withRule(classifier('spam'), [ref('spam', 'spam-key')]), 'classifier'],
    ['a classifier where a detector is needed', withRule(detector('judge'), [ref('judge', 'judge-key')]), 'detector'],
    ['a provider that the policy does not list', withRule(detector('spam'), []), 'asks'],
    ['an unapproved name that no rule uses', { ...definitionOf('portal'), providers: [ref('x', 'k')] }, 'x'],
  ])('a bundle is not built for %s', (_name, definition, word) => {
    const result = build(definition);
    expect(result).toMatchObject({ kind: 'refused', reason: 'provider_unknown' });
    expect(result.kind === 'refused' ? result.message : '').toContain(word);
  });

  test('a bundle is refused for an unknown profile and for an invalid definition', () => {
    expect(build(definitionOf('portal'), 'gateway-9')).toMatchObject({ reason: 'profile_unsupported' });
    for (const definition of ['{', '{}', 'null']) {
      const revision = revisionOf(1, { definition });
      const result = buildBundle({ revision, contentProfile: currentProfile, limits: defaultBundleLimits, approved });
      expect(result).toMatchObject({ kind: 'refused', reason: 'bundle_invalid' });
    }
  });

  test('a bundle of 716,800 bytes is accepted, and a larger one is refused', () => {
    const sized = (length: number): Definition => {
      const section = sectionOf('portal');
      const terms = Array.from({ length: Math.ceil(length / 1_024) }, () => 'x'.repeat(1_024));
      terms.push('y'.repeat(((length - 1) % 1_024) + 1));
      const rule = section.baseline[0];
      if (rule?.kind !== 'stop_list') throw new TypeError('a stop list');
      return {
        request: section,
        response: { ...section, baseline: [{ ...rule, stopList: { ...rule.stopList, terms } }] },
        providers: [],
      };
    };
    const base = 700_000;
    const spare = limits.bundleBytes - built(sized(base)).bytes.length;
    const exact = withPadding(sized(base), spare);
    expect(built(exact).bytes.length).toBe(limits.bundleBytes);
    expect(build(withPadding(sized(base), spare + 1))).toMatchObject({ kind: 'refused', reason: 'bundle_invalid' });
  });
});

/** Adds one term so that the bundle grows by exactly the given number of bytes, including quotes and comma. */
function withPadding(definition: Definition, bytes: number): Definition {
  const rule = definition.response.baseline[0];
  if (rule?.kind !== 'stop_list') throw new TypeError('a stop list');
  const terms = [...rule.stopList.terms];
  let left = bytes;
  while (left > 0) {
    const size = Math.min(left, 1_000) === left || left - 1_000 >= 4 ? Math.min(left, 1_000) : left - 4;
    terms.push('z'.repeat(size - 3));
    left -= size;
  }
  return {
    ...definition,
    response: { ...definition.response, baseline: [{ ...rule, stopList: { ...rule.stopList, terms } }] },
  };
}
