import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { runtimeWorkloadSchema } from '#resources/runtime-workload';
import { renderManifest } from '../adapters/processes/manifest.ts';
import { workloadName } from '../workload-name.ts';
import { makeWorkload } from './workload.ts';

const identity = { digest: 'a'.repeat(64), build: '0.1.0+0123456789ab', template: undefined };

test('the RuntimeWorkload of local processes equals its golden file', () => {
  const name = workloadName(identity, []);
  const manifest = renderManifest({ name, ...identity, providers: [] });
  const revision = { policyId: '01990000-0000-7000-8000-000000000001', number: '3' };
  const object = makeWorkload({ name, ...identity, manifest, replicas: 2, revision });
  expect(runtimeWorkloadSchema.safeParse(object).error?.issues).toBeUndefined();
  return expect(stringify(object)).toMatchFileSnapshot('../testdata/workload.yaml');
});

test('the name of a workload depends on bundle, build, template and providers alone', () => {
  const detector = { name: 'd', kind: 'detector', endpoint: 'http://127.0.0.1:1', credential: 'k' } as const;
  const names = [
    workloadName(identity, []),
    workloadName({ ...identity, digest: 'b'.repeat(64) }, []),
    workloadName({ ...identity, build: 'other' }, []),
    workloadName({ ...identity, template: 'c'.repeat(64) }, []),
    workloadName(identity, [detector]),
    workloadName(identity, [{ ...detector, endpoint: 'http://127.0.0.1:2' }]),
  ];
  expect(new Set(names).size).toBe(names.length);
  expect(workloadName({ ...identity }, [])).toBe(names[0]);
  for (const name of names) expect(name).toMatch(/^g-[0-9a-f]{20}$/);
});
