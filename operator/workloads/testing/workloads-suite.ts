import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { WorkloadRequest, Workloads } from '../ports.ts';

/** A place that runs workloads, with controls for a test. */
export type WorkloadsPlace = AsyncDisposable & {
  readonly workloads: Workloads;
  /** A request for a workload that this place can run. */
  request(name: string, change?: Partial<WorkloadRequest>): Promise<WorkloadRequest>;
  /** Makes the requested processes ready, if they do not become ready by themselves. */
  becomeReady(name: string): Promise<void>;
  /** Makes one process of the workload fail. */
  failOne(name: string): Promise<void>;
  /** Creates the adapter of a later operator for the same workloads, after this one has ended. */
  succeed(): Promise<Workloads>;
};

const foreign = [
  ['another build of local processes', '{"kind":"LocalProcess","build":"of-elsewhere"}'],
  ['an invalid manifest', '{"kind":"Elsewhere"}'],
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
    test('a workload that was never requested is observed without addresses and may be removed', async () => {
      const { workloads } = await open();
      expect(workloads.observe('g-unknown')).toEqual({ addresses: [], ready: 0, problem: undefined });
      expect(workloads.has('g-unknown')).toBe(false);
      workloads.remove('g-unknown');
      expect(workloads.has('g-unknown')).toBe(false);
    });

    test('a workload is rendered to the same bytes each time, and these can be run', async () => {
      const { workloads, request } = await open();
      const { name, digest, build, manifest } = await request('g-one');
      expect(workloads.render({ name, digest, build, providers: [] })).toBe(manifest);
      expect(workloads.canRun({ build, manifest })).toBe(true);
    });

    test.each(foreign)('a workload of %s cannot be run, and requesting it throws', async (_what, manifest) => {
      const { workloads, request } = await open();
      const { build } = await request('g-one');
      expect(workloads.canRun({ build, manifest })).toBe(false);
      const asked = await request('g-one', { manifest });
      expect(() => workloads.ensure(asked)).toThrow(TypeError);
      expect(workloads.has('g-one')).toBe(false);
    });

    test('a workload becomes ready with addresses and without a problem, and the listener is called', async () => {
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

    test('a workload that is requested again stays unchanged; with another number of processes it is scaled', async () => {
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

    test('a workload keeps its address when a process ends, which is reported as a problem', async () => {
      const { workloads, request, becomeReady, failOne } = await open();
      workloads.ensure(await request('g-one'));
      await becomeReady('g-one');
      const addresses = await readyAt(workloads, 'g-one', 1);
      await failOne('g-one');
      const problem = await until('the end of the process is observed', () => workloads.observe('g-one').problem);
      expect(problem.message).toMatch(/^\S.{3,599}$/);
      await until('the process is not counted as ready', () => workloads.observe('g-one').ready === 0);
      expect(workloads.observe('g-one').addresses).toEqual(addresses);
    });

    test('a workload name with a second manifest is refused', async () => {
      const { workloads, request } = await open();
      workloads.ensure(await request('g-one'));
      const { name, build } = await request('g-one');
      const manifest = workloads.render({ name, build, digest: 'f'.repeat(64), providers: [] });
      const other = await request('g-one', { manifest });
      expect(() => workloads.ensure(other)).toThrow(TypeError);
    });

    test('a removed workload is no longer observed', async () => {
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

    test('a workload keeps its addresses under the next operator', async () => {
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
