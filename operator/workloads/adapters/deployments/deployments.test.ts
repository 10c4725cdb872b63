import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '#kit/testing/until';
import { describeWorkloads } from '../../testing/workloads-suite.ts';
import { type ClusterPlace, openClusterPlace } from './testing/open-cluster-place.ts';

describeWorkloads('a cluster', openClusterPlace);

async function open(): Promise<ClusterPlace> {
  const place = await openClusterPlace();
  onTestFinished(() => place[Symbol.asyncDispose]());
  return place;
}

const plurals = ['deployments', 'services', 'poddisruptionbudgets', 'networkpolicies'] as const;
const present = ({ server }: ClusterPlace, name = 'g-one') =>
  plurals.filter((plural) => server.object(plural, name) !== undefined);

async function deployed(place: ClusterPlace, replicas = 1): Promise<void> {
  place.workloads.ensure(await place.request('g-one', { replicas }));
  await place.becomeReady('g-one');
  await until('they are ready', () => place.workloads.observe('g-one').ready === replicas);
}

describe('the objects of a workload', () => {
  test('the objects of a workload belong to its RuntimeWorkload and have the content of its manifest', async () => {
    const place = await open();
    await deployed(place);
    const { manifest: text } = await place.request('g-one');
    const manifest = JSON.parse(text) as Record<string, { spec: object; metadata: object }>;
    const owner = {
      apiVersion: 'portcullis.dev/v1alpha1',
      kind: 'RuntimeWorkload',
      name: 'g-one',
      uid: 'uid-of-g-one',
      controller: true,
    };
    expect(present(place)).toEqual(['deployments', 'services', 'networkpolicies']);
    for (const [plural, member] of [
      ['deployments', 'deployment'],
      ['services', 'service'],
      ['networkpolicies', 'networkPolicy'],
    ] as const) {
      const object = place.server.object(plural, 'g-one');
      expect(object?.metadata).toMatchObject({ ...manifest[member]?.metadata, ownerReferences: [owner] });
      expect(object?.['spec']).toEqual({
        ...manifest[member]?.spec,
        ...(member === 'deployment' ? { replicas: 1 } : {}),
      });
    }
    expect(place.workloads.observe('g-one').addresses).toEqual(['http://g-one.team.svc:8000']);
  });

  test('the objects that protect the pods of a workload are created before its first pod', async () => {
    const place = await open();
    await deployed(place, 2);
    const made = place.writes().map((line) => line.split('/').at(-1));
    expect(made).toEqual(['networkpolicies', 'services', 'deployments', 'poddisruptionbudgets']);
  });

  test('the objects of a workload are not written again, however often and by whichever operator they are requested', async () => {
    const place = await open();
    await deployed(place, 2);
    const before = place.writes().length;
    place.workloads.ensure(await place.request('g-one', { replicas: 2 }));
    const next = await place.succeed();
    next.ensure(await place.request('g-one', { replicas: 2, addresses: ['http://g-one.team.svc:8000'] }));
    await place.becomeReady('g-one');
    await until('they are ready', () => next.observe('g-one').ready === 2);
    expect(place.writes()).toHaveLength(before);
  });

  test('a workload has a PodDisruptionBudget from two pods on, and no PodDisruptionBudget with one pod', async () => {
    const place = await open();
    await deployed(place, 1);
    expect(present(place)).not.toContain('poddisruptionbudgets');
    place.workloads.ensure(await place.request('g-one', { replicas: 2 }));
    await until('it is there', () => present(place).includes('poddisruptionbudgets'));
    place.workloads.ensure(await place.request('g-one', { replicas: 1 }));
    await until('it is gone', () => !present(place).includes('poddisruptionbudgets'));
    expect(place.server.object('deployments', 'g-one')?.['spec']).toMatchObject({ replicas: 1 });
  });

  test('the objects of a workload are restored when another client changes them, and created again when it deletes them', async () => {
    const place = await open();
    await deployed(place);
    const image = () => JSON.stringify(place.server.object('deployments', 'g-one')?.['spec']);
    const before = image();
    place.server.change('deployments', 'g-one', (object) => {
      const spec = object['spec'] as { template: { spec: { containers: { image: string }[] } } };
      for (const container of spec.template.spec.containers) container.image = 'other:1';
    });
    await until('the object is restored', () => image() === before);
    place.server.remove('services', 'g-one');
    await until('the object is created again', () => present(place).includes('services'));
    place.server.change('networkpolicies', 'g-one', (object) =>
      Object.assign(object['spec'] as object, { ingress: [{}] }),
    );
    await until('the NetworkPolicy is restored', () =>
      JSON.stringify(place.server.object('networkpolicies', 'g-one')?.['spec']).includes('part-of'),
    );
  });

  test('the objects of a workload keep annotations of other writers and defaults of the server, but no other added member', async () => {
    const place = await open();
    await deployed(place);
    place.server.change('deployments', 'g-one', (object) => {
      Object.assign(object['spec'] as object, { paused: true, progressDeadlineSeconds: 600 });
      Object.assign(object.metadata, { annotations: { 'example.com/note': 'x' } });
    });
    place.server.change('services', 'g-one', (object) => {
      const spec = object['spec'] as { selector: Record<string, string> };
      spec.selector['app'] = 'other';
      Object.assign(spec, { clusterIP: '10.0.0.1', externalIPs: ['192.0.2.1'] });
    });
    const spec = (plural: string) => place.server.object(plural, 'g-one')?.['spec'] as Record<string, unknown>;
    await until(
      'the added members are removed',
      () => !('paused' in spec('deployments')) && !('externalIPs' in spec('services')),
    );
    expect(spec('services')).toMatchObject({ selector: { 'portcullis.dev/workload': 'g-one' }, clusterIP: '10.0.0.1' });
    expect(Object.keys(spec('services')['selector'] as object)).toHaveLength(1);
    expect(place.server.object('deployments', 'g-one')).toMatchObject({
      metadata: { annotations: { 'example.com/note': 'x' } },
      spec: { progressDeadlineSeconds: 600 },
    });
  });

  test('the objects of a workload are deleted with it, and only those of its RuntimeWorkload', async () => {
    const place = await open();
    await deployed(place, 2);
    place.server.change('services', 'g-one', (object) => {
      object.metadata['ownerReferences'] = [];
    });
    place.workloads.remove('g-one');
    await until('the objects of the workload are deleted', () => present(place).length === 1);
    expect(present(place)).toEqual(['services']);
  });
});

describe('the pods behind the Service of a workload', () => {
  test('a ready pod that the Service does not select is not counted', async () => {
    const place = await open();
    await deployed(place, 2);
    await place.setEndpoints('g-one', [await place.makePod('g-one', 'g-one-pod-0')]);
    await until('one endpoint is left', () => place.workloads.observe('g-one').ready === 1);
    await place.setEndpoints('g-one', []);
    await until('no endpoint is left', () => place.workloads.observe('g-one').ready === 0);
    expect(place.workloads.observe('g-one').addresses).toHaveLength(1);
  });

  test('an endpoint of another owner makes the workload not ready until it is removed', async () => {
    const place = await open();
    await deployed(place);
    const own = await place.makePod('g-one', 'g-one-pod-0');
    const foreign = await place.makePod('g-one', 'intruder', 'other-5d8f');
    expect(place.workloads.observe('g-one')).toMatchObject({ ready: 1, problem: undefined });
    await place.setEndpoints('g-one', [own, foreign]);
    const problem = await until('it is reported', () => place.workloads.observe('g-one').problem);
    expect(problem).toEqual({
      reason: 'ForeignEndpoint',
      message: expect.stringMatching(/^the pod intruder is an endpoint of the Service g-one but/),
    });
    expect(place.workloads.observe('g-one').ready).toBe(0);
    place.server.remove('pods', 'intruder');
    await place.setEndpoints('g-one', [own]);
    await until('it is ready', () => place.workloads.observe('g-one').ready === 1);
    expect(place.workloads.observe('g-one').problem).toBeUndefined();
  });
});

test('a corrected object is reported by an event that names the restored fields, and a change of replicas is not', async () => {
  const place = await open();
  await deployed(place);
  place.workloads.ensure(await place.request('g-one', { replicas: 2 }));
  await until('it has two', () => JSON.stringify(place.server.object('deployments', 'g-one')).includes('"replicas":2'));
  expect(place.events).toEqual([]);
  place.server.change('services', 'g-one', (object) => {
    Object.assign((object['spec'] as { selector: object }).selector, { app: 'other' });
  });
  await until('the change is reported', () => place.events.length === 1);
  place.server.remove('networkpolicies', 'g-one');
  await until('the deletion is reported', () => place.events.length === 2);
  const common = { type: 'Warning', reason: 'DriftCorrected', action: 'Apply' };
  expect(place.events).toEqual([
    { ...common, note: 'the Service g-one was changed by another client; restored: /spec/selector/app' },
    { ...common, note: 'the NetworkPolicy g-one was missing and was created again' },
  ]);
});

describe('an object of the same name that belongs to another owner', () => {
  test.each(plurals.filter((plural) => plural !== 'poddisruptionbudgets'))(
    'an object of another owner in %s is not changed, and is reported',
    async (plural) => {
      const place = await open();
      await deployed(place);
      await place.succeed();
      place.server.change(plural, 'g-one', (object) => {
        object.metadata['ownerReferences'] = [
          { controller: true, uid: 'another', kind: 'X', name: 'x', apiVersion: 'v1' },
        ];
      });
      const before = JSON.stringify(place.server.object(plural, 'g-one')?.['spec']);
      place.workloads.ensure(await place.request('g-one', { replicas: 2 }));
      const problem = await until('the problem is reported', () => place.workloads.observe('g-one').problem);
      expect(problem).toMatchObject({
        reason: 'ObjectRefused',
        message: expect.stringMatching(/g-one exists and has another owner: remove/),
      });
      expect(JSON.stringify(place.server.object(plural, 'g-one')?.['spec'])).toBe(before);
      if (plural !== 'networkpolicies') expect(place.workloads.observe('g-one')).toMatchObject({ ready: 0 });
      place.server.remove(plural, 'g-one');
      await until('it is made', () => {
        const owners = JSON.stringify(place.server.object(plural, 'g-one')?.metadata['ownerReferences'] ?? []);
        return owners.includes('uid-of-g-one');
      });
    },
  );
});

test('a workload that is created again under its name waits until the previous one is deleted', async () => {
  const place = await open();
  await deployed(place);
  place.workloads.remove('g-one');
  place.workloads.ensure(await place.request('g-one', { uid: 'made-anew' }));
  await until(
    'all objects belong to the new workload',
    () =>
      present(place).every((plural) =>
        JSON.stringify(place.server.object(plural, 'g-one')?.metadata['ownerReferences']).includes('made-anew'),
      ) && present(place).length === 3,
  );
});

describe('a request that is cut', () => {
  test.each(['cut', 'unanswered'] as const)(
    'a request (%s) that is interrupted at any write leads to the same final objects',
    async (fate) => {
      for (let write = 1; write <= 4; write += 1) {
        await using place = await openClusterPlace();
        let count = 0;
        place.server.fate = ({ method }) => {
          if (method === 'GET') return 'served';
          count += 1;
          return count === write ? fate : 'served';
        };
        place.workloads.ensure(await place.request('g-one', { replicas: 2 }));
        await until('all are there', () => present(place).length === 4);
        await place.becomeReady('g-one');
        await until('they are ready', () => place.workloads.observe('g-one').ready === 2);
        expect(place.workloads.observe('g-one').problem).toBeUndefined();
        const made = place.writes().filter((line) => line.startsWith('POST'));
        expect(made.length).toBeLessThanOrEqual(fate === 'cut' ? 5 : 4);
      }
    },
  );
});
