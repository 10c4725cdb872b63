import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { bundleSchema } from '#contracts/bundle';
import {
  bundleOf,
  classifier,
  detector,
  enforced,
  masking,
  observed,
  providersAt,
  quiet,
  regex,
  stopList,
} from '../testing/build-bundle.ts';

/** A validator of a published schema, as in other programs. */
function published(name: string): (value: unknown) => boolean {
  const schema = JSON.parse(
    readFileSync(new URL(`../../docs/schemas/${name}.json`, import.meta.url), 'utf8'),
  ) as object;
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  return (value) => validate(value) as boolean;
}

describe('the published schema of a bundle', () => {
  const everything = bundleOf(
    [stopList('a', ['x']), masking(regex('b', 'x'), '#'), detector('c'), classifier('d')],
    [enforced(masking(stopList('e', ['y']), '')), observed(detector('f'))],
    { providers: providersAt('http://127.0.0.1:1') },
  );

  test('the published schema of a bundle accepts every bundle that a runtime accepts', () => {
    for (const good of [everything, bundleOf([quiet])]) {
      expect(bundleSchema.safeParse(good).success).toBe(true);
      expect(published('bundle.v1')(good)).toBe(true);
    }
  });

  test('the published schema of a bundle refuses the same bundles as a runtime, as far as a schema can express it', () => {
    const wrong: object[] = [
      {},
      { ...everything, schema: 'bundle/v2' },
      { ...everything, contentProfile: 'other' },
      { ...everything, policies: [] },
      { ...everything, extra: 1 },
      { ...everything, limits: { ...everything.limits, queueSize: 1 } },
      { ...everything, limits: { ...everything.limits, maxBodyBytes: 131_073 } },
      { ...everything, providers: [{ name: 'x', kind: 'model', endpoint: 'http://x', credential: 'x' }] },
    ];
    for (const value of wrong) {
      expect(bundleSchema.safeParse(value).success).toBe(false);
      expect(published('bundle.v1')(value)).toBe(false);
    }
  });
});

test('the published schemas of providers accept exactly a decision', () => {
  for (const [name, words] of [
    ['detector.v1.answer', ['allow', 'deny']],
    ['classifier.v1.answer', ['allow', 'deny', 'uncertain']],
  ] as const) {
    const takes = published(name);
    for (const decision of words) expect(takes({ decision })).toBe(true);
    for (const value of [{}, { decision: 'maybe' }, { decision: 'allow', score: 1 }, 'allow', { Decision: 'allow' }])
      expect(takes(value)).toBe(false);
  }
  const question = {
    schema: 'platform.guardrail-runtime.detector/v1',
    stage: 'request',
    messages: [{ role: 'user', content: 'x' }],
  };
  expect(published('detector.v1.request')(question)).toBe(true);
  expect(published('detector.v1.request')({ ...question, model: 'x' })).toBe(false);
});
