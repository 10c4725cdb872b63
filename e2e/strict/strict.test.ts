import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifies } from '../support/verifies.ts';
import { openStrictBench, type StrictBench } from './run-strict.ts';

let bench: StrictBench;
beforeAll(async () => {
  bench = await openStrictBench();
});
afterAll(async () => bench[Symbol.asyncDispose]());

test('the right request of each stage is judged, before and after everything else', async () => {
  for (const stage of ['request', 'response'] as const) {
    expect(await bench.control(stage)).toMatchObject({ status: 200, body: '{"action":{"reason":"policy_pass"}}' });
  }
});

verifies(
  [
    'guardrail:errors:invalid-json-utf8',
    'guardrail:errors:invalid-json-syntax',
    'guardrail:errors:invalid-json-duplicate-fields',
    'guardrail:errors:invalid-json-strict-parsing',
    'guardrail:errors:invalid-payload',
    'guardrail:errors:unsupported-media',
    'guardrail:errors:untrusted-context',
    'guardrail:errors:unauthenticated',
    'guardrail:error-body:no-source-text',
    'guardrail:post-request:failure-never-pass',
  ],
  'every request of the corpus gets its exact status and code, and none is judged',
  async () => {
    expect(bench.cases.length).toBeGreaterThanOrEqual(300);
    const wrong: string[] = [];
    for (const one of bench.cases) {
      const fault = await bench.run(one);
      if (fault !== undefined) wrong.push(`/${one.stage} ${one.name}: ${fault}`);
    }
    expect(wrong).toEqual([]);
    expect(await bench.control('request')).toMatchObject({ status: 200 });
  },
  120_000,
);
