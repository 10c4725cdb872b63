import { describe, expect, test } from 'vitest';
import { findKind } from '#resources/schemas';
import { readSamples } from './read-samples.ts';
import { collection, useTestApi } from './test-api.ts';

/** The oldest version in docs/custom-resources.md; the API server emulates it. */
const oldest = '1.33';

describe(`Kubernetes ${oldest}`, () => {
  const api = useTestApi([`--emulated-version=${oldest}`]);

  test(`the API server reports version ${oldest}`, async () => {
    expect((await api.send('GET', '/version')).body).toMatchObject({ emulationMajor: '1', emulationMinor: '33' });
  });

  test(`Kubernetes ${oldest} accepts the definitions and refuses duplicate rule ids in a section`, async () => {
    const sampleOf = (name: string) => {
      const sample = [...readSamples('valid'), ...readSamples('invalid')].find((one) => one.name === name);
      const [object] = sample?.objects ?? [];
      if (object === undefined) throw new TypeError(`there is no sample ${name}`);
      return { path: collection(findKind(object.kind)?.kind.plural ?? ''), object };
    };
    for (const [name, status] of [
      ['policy-every-rule.yaml', 201],
      ['binding-every-field.yaml', 201],
      ['policy-rule-id-in-both-lists.yaml', 422],
      ['policy-id-not-uuid.yaml', 422],
    ] as const) {
      const { path, object } = sampleOf(name);
      expect(await api.send('POST', path, { body: object }), name).toMatchObject({ status });
    }
  });
});
