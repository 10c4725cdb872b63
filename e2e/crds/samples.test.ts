import { describe, expect, test } from 'vitest';
import type { Resource } from '#resources/metadata';
import { findKind } from '#resources/schemas';
import { judgeOurselves } from './judge-ourselves.ts';
import { readSamples } from './read-samples.ts';
import { collection, useTestApi } from './test-api.ts';

const valid = readSamples('valid');
const invalid = readSamples('invalid');
const refused = invalid.filter(({ says }) => says('by') === 'api-server');
/** Structurally valid samples whose problems the controllers find. */
const taken = [...valid, ...invalid.filter(({ says }) => says('by') === 'condition')];

const pluralOf = (object: Resource): string => findKind(object.kind)?.kind.plural ?? '';

describe('the TypeScript validation of samples', () => {
  test.each(taken)('TypeScript accepts the sample $name', ({ objects }) => {
    expect(objects.map(judgeOurselves).filter((problem) => problem !== undefined)).toEqual([]);
  });
  test.each(refused)('TypeScript refuses the sample $name', ({ objects, says }) => {
    expect(says('schema')).not.toBe('');
    expect(objects.map(judgeOurselves).join()).toContain(says('schema'));
  });
});

describe('the API server and samples', () => {
  const api = useTestApi();
  const create = (object: Resource) => api.send('POST', collection(pluralOf(object)), { body: object });

  test.each(taken)('the API server accepts the sample $name', async ({ objects }) => {
    for (const object of objects) expect(await create(object)).toMatchObject({ status: 201 });
  });
  test.each(refused)('the API server refuses the sample $name', async ({ objects, says }) => {
    expect(objects).toHaveLength(1);
    expect(says('expect')).not.toBe('');
    for (const object of objects) {
      const { status, body } = await create(object);
      expect(body.message).toContain(says('expect'));
      expect([400, 422]).toContain(status);
    }
  });
});

test('every sample names the component that refuses it', () => {
  expect(refused.length).toBeGreaterThanOrEqual(45);
  expect(taken.length - valid.length).toBeGreaterThanOrEqual(12);
  expect(refused.length + taken.length - valid.length).toBe(invalid.length);
});
