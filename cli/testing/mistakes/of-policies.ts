import { denyRule, patternRule, policyManifest } from '../policy-text.ts';
import type { Mistake } from './mistake.ts';

const tested = (
  title: string,
  text: string,
  said: Pick<Mistake, 'exit' | 'place' | 'remedy' | 'without'>,
): Mistake => ({
  title,
  args: ['test', '-f', 'FOLDER/p.yaml'],
  files: { 'p.yaml': text },
  ...said,
});

const detector = `{ id: far, kind: external_pipeline, timeoutMs: 100, action: { type: deny }, externalPipeline: { provider: presidio, contract: platform.guardrail-runtime.detector/v1 } }`;

/** User errors in rules and tests that the engine reports. */
export const mistakesOfPolicies: readonly Mistake[] = [
  tested('a broken pattern', policyManifest({ request: patternRule('back', '(a') }), {
    exit: 9,
    place: ['p.yaml: policy small, request section, rule back'],
    remedy: ['close it, or write \\( for the character'],
  }),
  tested('a back reference', policyManifest({ request: patternRule('back', '(a)\\1') }), {
    exit: 9,
    place: ['p.yaml: policy small, request section, rule back'],
    remedy: ['write out the alternatives, or use an external detector'],
  }),
  tested('a pattern that is too costly', policyManifest({ request: patternRule('heavy', '(a|b).{0,1000}(c|d)') }), {
    exit: 9,
    place: ['p.yaml: policy small, request section, rule heavy'],
    remedy: ['write it narrower'],
  }),
  tested('a provider that the policy does not list', policyManifest({ request: detector }), {
    exit: 9,
    place: ['p.yaml: policy small: the rule far', 'provider presidio'],
    remedy: [
      'add { name: presidio, credentialRef: { name: CREDENTIAL } } to spec.definition.providers',
      'or correct the name in the rule',
    ],
  }),
  tested(
    'a provider that is not approved',
    policyManifest({ request: detector, providers: '[{ name: presidio, credentialRef: { name: presidio } }]' }),
    {
      exit: 9,
      place: ['p.yaml: policy small: whether the provider presidio is approved is not known'],
      remedy: ['name the file of the approved providers with --providers FILE'],
      without: ['ask an administrator'],
    },
  ),
  tested(
    'a rule that takes longer than its section',
    policyManifest({ request: denyRule('slow', 'word').replace('timeoutMs: 100', 'timeoutMs: 400') }),
    {
      exit: 2,
      place: ['spec.definition.request.baseline[0].timeoutMs'],
      remedy: ['deadlineMs'],
    },
  ),
  tested(
    'a test with a wrong expectation',
    policyManifest({
      tests: '[{ name: greets, stage: request, messages: [{ role: user, content: a forbidden word }], expect: Pass }]',
    }),
    {
      exit: 5,
      place: ['p.yaml', '1 of 1 tests failed: policy small, spec.tests[0] (greets)'],
      remedy: ['expected Pass, got Reject by the rule term. Correct the rule, or "expect" of the test.'],
    },
  ),
  tested(
    'a test that expects another word',
    policyManifest({
      tests: '[{ name: greets, stage: request, messages: [{ role: user, content: hi }], expect: Deny }]',
    }),
    {
      exit: 2,
      place: ['line 12, column 84: spec.tests[0].expect'],
      remedy: ['must be one of "Pass", "Reject", "Mask", not "Deny"'],
    },
  ),
  {
    title: 'a file without a policy',
    args: ['test', '-f', 'FOLDER/b.yaml'],
    files: {
      'b.yaml':
        'apiVersion: portcullis.dev/v1alpha1\nkind: ModelBinding\nmetadata: { name: b }\nspec:\n  model: { alias: b, provider: echo, upstreamModel: echo, state: Enabled }\n  gateway: default\n  guardrail: { mode: None }\n  contentProfile: gateway-1.5.0-chat-webhook-v2\n  replicas: 1\n',
    },
    exit: 2,
    place: ['b.yaml'],
    remedy: ['no GuardrailPolicy', 'give a file'],
  },
  {
    title: 'a file with two policies for one text',
    args: ['check', '--policy', 'FOLDER/p.yaml', 'x'],
    files: { 'p.yaml': `${policyManifest({})}---\n${policyManifest({ name: 'other' })}` },
    exit: 2,
    place: ['p.yaml', '2 policies'],
    remedy: ['give a file with one'],
  },
  {
    title: 'a profile that does not exist',
    args: ['check', '--policy', 'FOLDER/p.yaml', '--profile', 'gateway-1.5.0-chat', 'x'],
    files: { 'p.yaml': policyManifest({}) },
    exit: 2,
    place: ['--profile of "check"'],
    remedy: ['gateway-1.5.0-chat-webhook-v2'],
  },
  {
    title: 'limits of a wrong type',
    args: ['test', '-f', 'FOLDER/p.yaml', '--limits', 'FOLDER/l.yaml'],
    files: { 'p.yaml': policyManifest({}), 'l.yaml': 'maxBodyBytes: many\n' },
    exit: 2,
    place: ['l.yaml', 'line 1', 'maxBodyBytes'],
    remedy: ['must be a whole number'],
  },
  {
    title: 'providers with a misspelt field',
    args: ['test', '-f', 'FOLDER/p.yaml', '--providers', 'FOLDER/v.yaml'],
    files: {
      'p.yaml': policyManifest({}),
      'v.yaml': 'providers:\n  - name: echo\n    kind: model\n    endpint: http://127.0.0.1:1/v1\n    enabled: true\n',
    },
    exit: 2,
    place: ['v.yaml', 'line 4, column 5', 'providers[0].endpint'],
    remedy: ['did you mean endpoint?'],
  },
];
