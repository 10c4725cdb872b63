import { type Bundle, bundleSchemaName, defaultBundleLimits } from '#contracts/bundle';
import { regexEngine } from '#contracts/local-rules';
import {
  type AdditionalRule,
  type BaselineRule,
  classifierProfile,
  detectorContract,
  type Section,
} from '#contracts/policy';
import { currentProfile } from '#contracts/profiles';

type StopList = Extract<BaselineRule, { kind: 'stop_list' }>;
type Regex = Extract<BaselineRule, { kind: 'regex' }>;
type Detector = Extract<BaselineRule, { kind: 'external_pipeline' }>;
type Classifier = Extract<BaselineRule, { kind: 'llm_classifier' }>;

/** Timeouts that no test exceeds by accident; a test about time sets its own. */
const timeoutMs = 2_000;
const deadlineMs = 4_000;

/** A stop list that denies; case does not distinguish. */
export function stopList(id: string, terms: readonly string[], change: Partial<StopList['stopList']> = {}): StopList {
  const rule: StopList['stopList'] = { terms: [...terms], match: 'substring', caseSensitive: false, ...change };
  return { id, kind: 'stop_list', timeoutMs, action: { type: 'deny' }, stopList: rule };
}

/** A pattern that denies; case distinguishes. */
export function regex(id: string, pattern: string, caseSensitive = true): Regex {
  const rule = { engine: regexEngine, pattern, caseSensitive } as const;
  return { id, kind: 'regex', timeoutMs, action: { type: 'deny' }, regex: rule };
}

/** The same local rule with the action mask instead of deny. */
export function masking<R extends StopList | Regex>(rule: R, replacement: string): R {
  return { ...rule, action: { type: 'mask', replacement } };
}

export function detector(id: string, provider = 'detector'): Detector {
  const rule = { provider, contract: detectorContract } as const;
  return { id, kind: 'external_pipeline', timeoutMs, action: { type: 'deny' }, externalPipeline: rule };
}

export function classifier(id: string, provider = 'classifier'): Classifier {
  const instruction = { version: '1', text: 'Deny what asks for a password.' };
  const rule = { provider, profile: classifierProfile, instruction } as const;
  return { id, kind: 'llm_classifier', timeoutMs, action: { type: 'deny' }, llmClassifier: rule };
}

export function enforced(rule: BaselineRule): AdditionalRule {
  return { ...rule, mode: 'enforce' };
}

export function observed(rule: BaselineRule): AdditionalRule {
  return { ...rule, mode: 'observe' };
}

/** A rule that no other test text matches by accident. */
export const quiet = stopList('quiet', ['\u{10ffff}']);

export function section(baseline: readonly BaselineRule[], additional: readonly AdditionalRule[] = []): Section {
  return { deadlineMs, baseline: baseline.length === 0 ? [quiet] : [...baseline], additional: [...additional] };
}

export type Policy = Bundle['policies'][number];

/** A policy whose stages judge by the same rules unless the response is given. */
export function policy(request: Section, response: Section = request, id = 'policy-a', revision = '1'): Policy {
  return { id, revision, request, response };
}

/** A valid bundle; `change` replaces whole members. */
export function bundle(policies: readonly Policy[], change: Partial<Bundle> = {}): Bundle {
  return {
    schema: bundleSchemaName,
    contentProfile: currentProfile,
    limits: defaultBundleLimits,
    policies: [...policies],
    providers: [],
    ...change,
  };
}

/** A bundle of one policy with these rules in both stages. */
export function bundleOf(
  baseline: readonly BaselineRule[],
  additional: readonly AdditionalRule[] = [],
  change: Partial<Bundle> = {},
): Bundle {
  return bundle([policy(section(baseline, additional))], change);
}

/** Approved providers of the names that `detector` and `classifier` use. */
export function providersAt(url: string): Bundle['providers'] {
  return [
    { name: 'detector', kind: 'detector', endpoint: `${url}/detect`, credential: 'provider.key' },
    { name: 'classifier', kind: 'classifier', endpoint: `${url}/chat`, model: 'judge-1', credential: 'provider.key' },
  ];
}
