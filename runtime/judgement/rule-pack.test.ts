import { beforeAll, describe, expect, test } from 'vitest';
import type { JudgeVerdict } from '#contracts/judge';
import { rulesInOrder, type Stage } from '#contracts/policy';
import { judgeExample, readExamples } from './testing/judge-example.ts';

const policies = readExamples('rule-pack');

test('the rule pack contains at least 200 rules with unique ids', () => {
  const ids = policies.flatMap(({ definition }) => rulesInOrder(definition.request).map(({ id }) => id));
  expect(ids.length).toBeGreaterThanOrEqual(200);
  expect(new Set(ids).size).toBe(ids.length);
});

describe.each(policies)('the policy $file of the pack', (policy) => {
  const { definition, tests } = policy;
  let verdict: JudgeVerdict;
  beforeAll(async () => {
    verdict = await judgeExample(policy);
  });

  test('a policy of the pack is admitted at maxBodyBytes 32768 with timeoutMs 20, or 36 where it has checksums, and allows streams', () => {
    expect(verdict.problems).toEqual([]);
    expect(verdict.streaming).toEqual([{ policyId: policy.file, allowed: true }]);
    const rules = [...rulesInOrder(definition.request), ...rulesInOrder(definition.response)];
    const allowed = rules.some((rule) => rule.kind === 'regex' && rule.regex.checksum !== undefined) ? 36 : 20;
    expect(rules.filter(({ timeoutMs }) => timeoutMs !== allowed)).toEqual([]);
  });

  test('each rule of the pack has a test text that it decides, and a similar text that passes', () => {
    const results = new Map(tests.map(({ name, stage }, at) => [`${stage} ${name}`, verdict.results[at]] as const));
    const undecided = (stage: Stage): readonly string[] =>
      rulesInOrder(definition[stage]).flatMap(({ id }) => {
        const fires = results.get(`${stage} ${id} fires`);
        const quiet = results.get(`${stage} ${id} does not match`);
        return fires?.rules.includes(id) === true && quiet?.decision === 'Pass' ? [] : [id];
      });
    expect(undecided('request')).toEqual([]);
    // A section whose rules are also in the other section is covered by the tests of that section.
    if (!sameRules(definition)) expect(undecided('response')).toEqual([]);
    expect(verdict.results.map(({ decision }) => decision)).toEqual(tests.map((one) => one.expect));
  });
});

function sameRules({ request, response }: (typeof policies)[number]['definition']): boolean {
  return JSON.stringify(request) === JSON.stringify(response);
}
