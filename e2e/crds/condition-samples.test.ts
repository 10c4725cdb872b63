import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { Condition, Resource } from '#resources/metadata';
import { findKind } from '#resources/schemas';
import { type Platform, startPlatform } from '../support/start-platform.ts';
import { readSamples } from './read-samples.ts';

type WithConditions = Resource<unknown, { readonly conditions?: readonly Condition[] }>;

const samples = readSamples('invalid').filter(({ says }) => says('by') === 'condition');

let platform: Platform;
beforeAll(async () => {
  const echo = { name: 'echo', kind: 'model', endpoint: 'http://127.0.0.1:9/v1', enabled: true } as const;
  platform = await startPlatform({ providers: [echo] });
});
afterAll(() => platform[Symbol.asyncDispose]());

const kindOf = (name: string) => {
  const found = findKind(name)?.kind;
  if (found === undefined) throw new TypeError(`there is no kind ${name}`);
  return found;
};

test.each(samples)('the sample $name is accepted, and a condition names its problem', async ({ objects, says }) => {
  for (const object of objects) await platform.client.create(kindOf(object.kind), object);
  const [kind = '', name = ''] = says('subject').split('/');
  const [, type = '', status = '', reason = ''] = /^(\w+)=(\w+) (\w+)$/.exec(says('condition')) ?? [];
  const condition = await until(`${says('subject')} says ${says('condition')}`, async () => {
    const object = await platform.client.get<WithConditions>(kindOf(kind), name);
    const found = object?.status?.conditions?.find((one) => one.type === type);
    if (found?.status === status && found.reason === reason) return found;
    throw new Error(JSON.stringify(object?.status?.conditions));
  });
  expect(condition.message).toContain(says('expect'));
  expect(condition.message).toMatch(/^[\w'"].{20,}/);
});
