import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkProviderProblem, describeProviderProblem, providerCauses } from '#contracts/provider-causes';
import { advice, adviceFor, ruleProviderAdvice } from '#diagnosis/advice';
import { ru } from '../../dataplane/console/words/ru.ts';
import { translate } from '../../dataplane/console/words/sentences/translate.ts';
import { literalsOf } from './literals-of.ts';

const root = new URL('../../', import.meta.url).pathname;

/** The sources that contain the causes, steps and problems which pages show. */
const sources = {
  'causes of models and agents': [
    'libraries/diagnosis/{explain-agent,explain-agent-version,explain-binding,explain-declared,links}.ts',
    'operator/controllers/model-binding/{decide,application/*,status/conditions}.ts',
    'operator/controllers/{agent,agent-version}/conditions.ts',
    'operator/controllers/runtime-workload/{status,decide}.ts',
    'operator/acceptance/{ask-providers,decide-progress,gather-views,judge-test,run-policy-tests,run-tests-locally}.ts',
    'operator/acceptance/resources/guard.ts',
    'operator/management/{agents/managed-agents,models/without-owner}.ts',
    'operator/agents/{manifest-differences,missing-connections,missing-policy,read-image}.ts',
    'dataplane/agents/{prepare-agent,bundle/load-agent,service}.ts',
    'libraries/contracts/{provider-causes,sdk-card}.ts',
  ],
  'problems of processes and bundles': [
    'libraries/contracts/activity.ts',
    'operator/management/activity/collect-activity.ts',
    'operator/workloads/{ports,runtime-process,pods/describe-pod-problem,adapters/processes/replica}.ts',
    'operator/workloads/adapters/deployments/workload-pods.ts',
    'operator/agents/adapters/processes/agent-replica.ts',
    'operator/bundles/{build-bundle,run-judge}.ts',
    'runtime/bundle/{compile-bundle,division,parse-bundle}.ts',
  ],
  'problems of policies': [
    'libraries/contracts/{assemble-bundle,code-points,describe-problem,local-rules,policy,read-shape}.ts',
    'runtime/bundle/{accepted-pass,admit,compile-local-rule,lint-rule,local-pass,streaming}.ts',
    'runtime/rules/pattern/{search/engine,syntax/*}.ts',
    'dataplane/console/clients/policy-source.ts',
  ],
  'problems of flows': [
    'libraries/flow/{definition,loader,schemas,source}/*.ts',
    'libraries/flow/expressions/{condition,pattern,reference,template,value}.ts',
    'libraries/flow/cases/{flow-tests-schema,load-tests}.ts',
    'operator/agents/checking/check-version.ts',
  ],
  'problems of documents and of the audit log': [
    'dataplane/retrieval/ingest/{fetch,worker,reindex}/*.ts',
    'dataplane/retrieval/ingest/jobs/{dead-letters,end-attempt}.ts',
    'dataplane/retrieval/ingest/text/read-content.ts',
    'libraries/contracts/verify-audit.ts',
  ],
};

/** Texts that no page shows, and parts of sentences that are below as a whole. */
const parts: ReadonlySet<string> = new Set([
  ...['Agent x1', 'AgentVersion x1', 'ModelBinding x1', 'x1 is x1x1', 'Policy x1', 'Workload x1', 'Replica x1'],
  ...['not served as declared', 'not processed yet', 'not ready', 'being deleted', 'no answer'],
  ...['x1 is UNGUARDED, as its spec declares. The application is confirmed.'],
  ...['x1 is UNGUARDED, as its spec declares, and cannot answer: x1'],
  ...['x1 is UNGUARDED, as its spec declares, but not on every replicax1'],
  ...['x1 is applied x1, but texts that the rule x1 judges are refused: x1'],
  ...['x1 is applied x1, but its model cannot answer: x1', 'x1 is applied x1, but not everywherex1'],
  ...['x1 is applied: every ready replica of x1 serves it x1.x1', 'x1 is not applied yetx1', 'x1 was not appliedx1'],
  ...['x1 was applied, but a replica now rejects its routex1', 'x1 is being deletedx1'],
  ...['The application is in progress.x1', 'Every ready gateway replica confirmed the route. x1'],
  ...['Every ready gateway replica confirmed revision x1 of the policyx1.', 'The binding is applied, but x1. x1'],
  ...['The application failed; a new value of spec.apply tries it again.x1', 'The deletion waits for x1 x1.'],
  ...['Texts that this rule judges are refused. x1x1', 'x1: the AgentVersion x1 is not readyx1'],
  ...['This is a test of the connection. Please answer it.', 'the policy is x1: it cannot be newly applied'],
  ...[
    'policy x1:',
    'policy x1',
    'rule x1',
    'the card',
    'the bundle',
    'the policy',
    'the file',
    'node x1,',
    'the worker',
  ],
  ...['x1 is not served: add it to the served policies', 'the media modes of the contract must be of x1'],
  ...[
    'the image cannot be pulledx1',
    'the rule x1 needs a x1, but the provider x1 is a x1',
    'x1: name an approved x1 in the rule and in spec.definition.providers',
    'x1, and no x1 is approved: add one to the approved providers, or write the rule with the kind x1',
  ],
  ...['is above the deadlineMs x1 of the x1 section: lower it, or raise deadlineMs'],
  ...[
    'a string',
    'a number',
    'a whole number',
    'a list',
    'an object',
    'another type',
    'one of x1',
    'must have x1 x1 x1',
  ],
  ...['more than', 'at least', 'less than', 'at most', 'the pattern of the schema'],
  ...['x1: quote it', 'x1: remove the quotes', 'x1: remove the unit'],
  ...['be compared with the allow-list', 'have a checksum', 'any number of bytes', 'term x1 is', 'terms x1x1 are'],
  ...['it can match an empty text, and its matches must x1: make it match a character at least'],
  'its matches must x1, so their places must be rare: begin the pattern with \\b, and limit its repeats',
  'the local rules of its section together may take x1 on x1 bytes (maxBodyBytes), more than half of deadlineMs (x1), ' +
    'and this rule takes the largest part (x1): remove or narrow rules, or raise deadlineMs',
  ...['x1, the most that any local rule may take', 'x1, or move it into an external detector'],
  ...['x1, a quarter of the smallest timeoutMs (x1 ms) of the local rules of its section'],
  ...['it may take x1 on x1 bytes (maxBodyBytes), above x1'],
  ...['its time on x1 bytes (maxBodyBytes) has no known bound, and may be above x1'],
  ...['write it narrower, with small bounds such as {0,64} and few alternatives'],
  ...['x1, raise timeoutMs of every local rule of its section to x1, or move it into an external detector'],
  ...['streamed answers cannot be checked and are refused', 'x1, so x1'],
  ...['it may judge a streamed answer differently from a whole one'],
  ...['it may need x1 of text to find a match, more than the x1 that windows share'],
  ...['match the text around it, too, or use an external detector'],
  ...['x1 is not supported, because RE2 has no lookaround: x1', 'too large', 'out of memory'],
  ...['the matching engine is out of memory', 'the matching engine failed'],
  ...['names a flow that has problemsx1', ': line x1, x1 x1', 'x1 is not JSON: x1 at byte x1'],
  ...['the staged document', 'the document of content_ref'],
]);

const lookaround = 'match the text around it, too, or use an external detector';
const narrower = 'write it narrower, with small bounds such as {0,64} and few alternatives';
const external = 'or move it into an external detector';
const serving = ['with revision 3 of guard', 'UNGUARDED'];
/** Sentences that the sources compose. */
const wholes: readonly string[] = [
  ...['served', 'starting', 'not served as declared', 'not processed yet', 'being deleted'].flatMap((state) => [
    `Agent desk is ${state}.`,
    `Agent desk is ${state}: version: the AgentVersion desk-1 is not ready: The process of the version does not answer.`,
  ]),
  ...['ready', 'starting', 'not ready', 'not processed yet', 'being deleted'].flatMap((state) => [
    `AgentVersion desk-1 is ${state}.`,
    `AgentVersion desk-1 is ${state}: flow.yaml:3:5: node ask, nodes[0].id is required. There are 2 further problems.`,
  ]),
  'ModelBinding chat is UNGUARDED, as its spec declares. The application is confirmed.',
  'ModelBinding chat is UNGUARDED, as its spec declares, and cannot answer: The model needs no runtime.',
  'ModelBinding chat is UNGUARDED, as its spec declares, but not on every replica.',
  'ModelBinding chat is UNGUARDED, as its spec declares, but not on every replica: Replica gateway-1: It is not ready.',
  ...serving.flatMap((served) => [
    `ModelBinding chat is applied ${served}, but texts that the rule spam judges are refused: It is not ready.`,
    `ModelBinding chat is applied ${served}, but its model cannot answer: It is not ready.`,
    `ModelBinding chat is applied ${served}, but not everywhere: Replica gateway-1: It rejects the route: probe_timeout.`,
    `ModelBinding chat is applied: every ready replica of default serves it ${served}.`,
    `ModelBinding chat is applied: every ready replica of default serves it ${served}. The model or its provider is disabled.`,
  ]),
  ...[
    'is not applied yet',
    'was applied, but a replica now rejects its route',
    'was not applied',
    'is being deleted',
  ].flatMap((state) => [
    `ModelBinding chat ${state}.`,
    `ModelBinding chat ${state}: Route: The application is in progress.`,
  ]),
  ...[
    'Operator',
    'Deletion',
    'Accepted',
    'References',
    'Policy guard',
    'Runtime',
    'Workload',
    'Workload g-1',
    'Route',
  ].map((part) => `ModelBinding chat is not applied yet: ${part}: All references are resolved.`),
  ...['Replicas', 'Replica gateway-1', 'Provider'].map(
    (part) => `ModelBinding chat was not applied: ${part}: It is not ready.`,
  ),
  'Every ready gateway replica confirmed the route. UNGUARDED: no guardrail checks the requests and answers of this model.',
  'Every ready gateway replica confirmed revision 3 of the policy guard.',
  'Every ready gateway replica confirmed revision 3 of the policy.',
  'The binding is applied, but texts that this rule judges are refused. It is not ready.',
  'The binding is applied, but its model cannot answer. It is not ready.',
  'The application failed; a new value of spec.apply tries it again. The alias has no route.',
  ...['1 run', '2 runs', '1 gateway replica', '2 gateway replicas'].map((count) => `The deletion waits for ${count}.`),
  'Texts that this rule judges are refused. It is not ready. 2 more rules are not judged.',
  ...['archived', 'being deleted'].map((state) => `the policy is ${state}: it cannot be newly applied`),
  'policy guard: request section, rule cards: invalid syntax; response section: invalid syntax; and 3 more',
  'policy guard, request section, rule cards: invalid syntax',
  'the card is missing or has another form than A2A 1.0 says',
  'the bundle has unknown fields',
  'the policy guard is not served: add it to the served policies',
  'revision 3 of the policy guard is not served: add it to the served policies',
  'the media modes of the contract must be of text/plain and application/json',
  ...['the image cannot be pulled', 'the image cannot be pulled: not_found'],
  ...[
    ['detector', 'classifier', 'llm_classifier'],
    ['classifier', 'detector', 'external_pipeline'],
  ].flatMap(([wanted, found, kind]) => [
    `the rule spam needs a ${wanted}, but the provider pii is a ${found}: name an approved ${wanted} in the rule and in spec.definition.providers`,
    `the rule spam needs a ${wanted}, but the provider pii is a ${found}, and no ${wanted} is approved: add one to the approved providers, or write the rule with the kind ${kind}`,
  ]),
  ...['request', 'response'].map(
    (stage) => `is above the deadlineMs 200 of the ${stage} section: lower it, or raise deadlineMs`,
  ),
  ...['a string', 'a number', 'a whole number', 'true or false', 'a list', 'an object', 'null', 'another type'].map(
    (type) => `spec.rules[0].id must be ${type}`,
  ),
  ...['a string: quote it', 'true or false: remove the quotes'].map((type) => `name must be ${type}`),
  ...['a number', 'a whole number'].flatMap((type) => [
    `name must be ${type}: remove the quotes`,
    `name must be ${type}: remove the unit`,
  ]),
  ...['at least', 'at most', 'more than', 'less than'].flatMap((comparison) => [
    `name must be ${comparison} 5`,
    ...['characters', 'entries', 'fields'].map((unit) => `name must have ${comparison} 5 ${unit}`),
  ]),
  ...['name must match /^[a-z ]+$/', 'name must match the pattern of the schema', 'name must be one of "a b", "c"'],
  ...['be compared with the allow-list', 'have a checksum'].flatMap((test) => [
    `it can match an empty text, and its matches must ${test}: make it match a character at least`,
    `its matches must ${test}, so their places must be rare: begin the pattern with \\b, and limit its repeats`,
  ]),
  'the local rules of its section together may take 5.10 ms on 65536 bytes (maxBodyBytes), more than half of deadlineMs ' +
    '(100 ms), and this rule takes the largest part (4.00 ms): remove or narrow rules, or raise deadlineMs',
  `it may take 31 ms on 65536 bytes (maxBodyBytes), above 25 ms, the most that any local rule may take: ${narrower}, ${external}`,
  'its time on 65536 bytes (maxBodyBytes) has no known bound, and may be above 5.00 ms, a quarter of the smallest timeoutMs ' +
    `(20 ms) of the local rules of its section: ${narrower}, raise timeoutMs of every local rule of its section to 40, ${external}`,
  ...['term 3 is', 'terms 1, 2 are', 'terms 1, 2, 3, 4, 5 and 2 more are'].flatMap((which) => [
    `${which} written as a regular expression, and terms are literal texts: write the text, or use a rule of kind regex`,
    `${which} found only together with outer white space, and not next to punctuation or at an end of a text: ` +
      'remove the white space and use match: token',
    `${which} never found, because allow lists the same text: remove one of them`,
  ]),
  'a match of 5 characters shows 4 of them (keepFirst and keepLast): keep at most half of the shortest match, or match longer texts only',
  ...['300 bytes', 'any number of bytes'].map(
    (most) =>
      `response section, rule a: it may need ${most} of text to find a match, more than the 256 that windows share, ` +
      'so streamed answers cannot be checked and are refused',
  ),
  'it is anchored to the beginning or end of the text, so it may judge a streamed answer differently from a whole one',
  `(?= is not supported, because RE2 has no lookaround: ${lookaround}`,
  'flow.yaml:3:5: nodes[0].config.sha256 names a flow that has problems',
  'flow.yaml:3:5: nodes[0].config.sha256 names a flow that has problems: line 2, the file must be an object',
  'flow.yaml:3:5: nodes[0].config.sha256 names a flow that has problems: line 2, nodes must be a list',
  'manifest.yaml:1:1: the file must be an object',
  ...['the staged document', 'the document of content_ref'].map((what) => `${what} is not JSON: syntax at byte 4`),
];

/** The parts of a text that have no Russian. */
function englishOf(text: string): readonly string[] {
  return translate(ru.sentences, text)
    .filter(({ isEnglish }) => isEnglish)
    .map((part) => part.text);
}

/** Several words; anything else is a name or a code, or a list of keywords. */
const isSentence = (text: string): boolean => /[a-z]{2,} [a-z]|^[a-z]+ \S/i.test(text) && !text.startsWith('$');

describe('Russian pages have a translation of', () => {
  test.each(Object.entries(sources))('every sentence of %s has a Russian translation', (_name, patterns) => {
    const paths = patterns.flatMap((pattern) => {
      const found = globSync(pattern, { cwd: root }).filter((path) => !path.includes('.test.'));
      expect([pattern, found.length > 0]).toEqual([pattern, true]);
      return found;
    });
    const left = paths.flatMap((path) =>
      literalsOf(readFileSync(join(root, path), 'utf8'))
        .filter((text) => isSentence(text) && !parts.has(text) && englishOf(text).length > 0)
        .map((text) => `${path}: ${text}`),
    );
    expect(left).toEqual([]);
  });

  test('composed sentences have Russian translations', () => {
    expect(wholes.map((text) => [text, englishOf(text)]).filter(([, left]) => left?.length !== 0)).toEqual([]);
  });

  test.each(['portcullis', 'kubectl portcullis'])(
    'the remedy for each reason has a Russian translation with its names: %s',
    (program) => {
      const names = { program, binding: 'chat-one', policy: 'guard-two' };
      const remedies = [...Object.keys(advice), 'Unknown'].map((reason) => adviceFor(reason, names));
      expect(remedies.length).toBeGreaterThan(100);
      for (const remedy of remedies) {
        expect([remedy, englishOf(remedy)]).toEqual([remedy, []]);
        const russian = translate(ru.sentences, remedy)
          .map(({ text }) => text)
          .join('');
        const named = [names.binding, names.policy, `${program} `].filter((name) => remedy.includes(name));
        expect([remedy, named.filter((name) => !russian.includes(name))]).toEqual([remedy, []]);
      }
    },
  );

  test.each(providerCauses)(
    'the sentence about a provider that cannot be used has a Russian translation: %s',
    (cause) => {
      const { reason } = checkProviderProblem(cause);
      const sentences = [
        describeProviderProblem('echo', cause),
        describeProviderProblem('spam', cause, 'no-spam'),
        ruleProviderAdvice(reason) ?? '',
      ];
      for (const one of sentences) expect([one, englishOf(one)]).toEqual([one, []]);
    },
  );
});
