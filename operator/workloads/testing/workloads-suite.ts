import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../../../e2e/support/until.ts';
import type { WorkloadRequest, Workloads } from '../ports.ts';

/** A place that runs workloads, with what a test needs to make things happen in it. */
export type WorkloadsPlace = AsyncDisposable & {
  readonly workloads: Workloads;
  /** What asks for a workload that this place can run. */
  request(name: string, change?: Partial<WorkloadRequest>): Promise<WorkloadRequest>;
  /** Has the processes that are asked for become ready, where they do not by themselves. */
  becomeReady(name: string): Promise<void>;
  /** Has one process of the workload end by a fault. */
  failOne(name: string): Promise<void>;
  /** Another operator, at the same place, after this one has ended. */
  succeed(): Promise<Workloads>;
};

const foreign = [
  ['another build of local processes', '{"kind":"LocalProcess","build":"of-elsewhere"}'],
  ['a manifest that is none', '{"kind":"Elsewhere"}'],
  ['no JSON', '{'],
] as const;

/** The obligations of the port Workloads, over a real adapter. */
export function describeWorkloads(title: string, openPlace: () => Promise<WorkloadsPlace>): void {
  async function open(): Promise<WorkloadsPlace> {
    const place = await openPlace();
    onTestFinished(() => place[Symbol.asyncDispose]());
    return place;
  }

  async function readyAt(workloads: Workloads, name: string, count: number): Promise<readonly string[]> {
    return until(`${count} processes of ${name} are ready`, () => {
      const { ready, addresses } = workloads.observe(name);
      return ready === count && addresses.length > 0 ? addresses : undefined;
    });
  }

  describe(`${title}: workloads`, () => {
    test('that were never asked for are observed as nothing, and may be removed', async () => {
      const { workloads } = await open();
      expect(workloads.observe('g-unknown')).toEqual({ addresses: [], ready: 0, problem: undefined });
      expect(workloads.has('g-unknown')).toBe(false);
      workloads.remove('g-unknown');
      expect(workloads.has('g-unknown')).toBe(false);
    });

    test('are rendered to the same bytes, which can be run', async () => {
      const { workloads, request } = await open();
      const { name, digest, build, manifest } = await request('g-one');
      expect(workloads.render({ name, digest, build, providers: [] })).toBe(manifest);
      expect(workloads.canRun({ build, manifest })).toBe(true);
    });

    test.each(foreign)('of %s cannot be run, and asking for it is a mistake', async (_what, manifest) => {
      const { workloads, request } = await open();
      const { build } = await request('g-one');
      expect(workloads.canRun({ build, manifest })).toBe(false);
      const asked = await request('g-one', { manifest });
      expect(() => workloads.ensure(asked)).toThrow(TypeError);
      expect(workloads.has('g-one')).toBe(false);
    });

    test('become ready, with origins and without a problem, and the listener is told', async () => {
      const { workloads, request, becomeReady } = await open();
      const told: string[] = [];
      workloads.onChange((name) => told.push(name));
      workloads.ensure(await request('g-one'));
      expect(workloads.has('g-one')).toBe(true);
      expect(workloads.observe('g-one').ready).toBe(0);
      await becomeReady('g-one');
      const addresses = await readyAt(workloads, 'g-one', 1);
      for (const address of addresses) expect(new URL(address).origin).toBe(address);
      expect(workloads.observe('g-one').problem).toBeUndefined();
      expect(new Set(told)).toEqual(new Set(['g-one']));
    });

    test('that are asked for again stay; with another number they follow it', async () => {
      const { workloads, request, becomeReady } = await open();
      workloads.ensure(await request('g-one'));
      await becomeReady('g-one');
      const [first] = await readyAt(workloads, 'g-one', 1);
      workloads.ensure(await request('g-one'));
      expect(workloads.observe('g-one')).toMatchObject({ ready: 1, addresses: [first] });
      workloads.ensure(await request('g-one', { replicas: 2 }));
      await becomeReady('g-one');
      expect(await readyAt(workloads, 'g-one', 2)).toContain(first);
      workloads.ensure(await request('g-one', { replicas: 1 }));
      await becomeReady('g-one');
      expect(await readyAt(workloads, 'g-one', 1)).toEqual([first]);
    });

    test('keep their address when a process ends, which shows as a problem', async () => {
      const { workloads, request, becomeReady, failOne } = await open();
      workloads.ensure(await request('g-one'));
      await becomeReady('g-one');
      const addresses = await readyAt(workloads, 'g-one', 1);
      await failOne('g-one');
      const problem = await until('the end is seen', () => workloads.observe('g-one').problem);
      expect(problem.message).toMatch(/^\S.{3,599}$/);
      await until('it is not counted', () => workloads.observe('g-one').ready === 0);
      expect(workloads.observe('g-one').addresses).toEqual(addresses);
    });

    test('of one name have one manifest', async () => {
      const { workloads, request } = await open();
      workloads.ensure(await request('g-one'));
      const { name, build } = await request('g-one');
      const manifest = workloads.render({ name, build, digest: 'f'.repeat(64), providers: [] });
      const other = await request('g-one', { manifest });
      expect(() => workloads.ensure(other)).toThrow(TypeError);
    });

    test('that are removed are not observed any more', async () => {
      const { workloads, request, becomeReady } = await open();
      workloads.ensure(await request('g-one'));
      workloads.ensure(await request('g-two'));
      for (const name of ['g-one', 'g-two']) {
        await becomeReady(name);
        await readyAt(workloads, name, 1);
      }
      workloads.remove('g-one');
      expect(workloads.has('g-one')).toBe(false);
      expect(workloads.observe('g-one')).toEqual({ addresses: [], ready: 0, problem: undefined });
      expect(workloads.observe('g-two').ready).toBe(1);
    });

    test('answer where they answered before when the operator is another one', async () => {
      const { workloads, request, becomeReady, succeed } = await open();
      workloads.ensure(await request('g-one'));
      await becomeReady('g-one');
      const addresses = await readyAt(workloads, 'g-one', 1);
      const next = await succeed();
      next.ensure(await request('g-one', { addresses }));
      expect(next.observe('g-one').addresses).toEqual(addresses);
      await becomeReady('g-one');
      expect(await readyAt(next, 'g-one', 1)).toEqual(addresses);
    });
  });
}
