import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { AgentHost, AgentObservation, AgentRequest } from '../ports.ts';
import { sampleVersion } from './sample-version.ts';

/** An adapter that runs agent versions, with functions by which a test disturbs them. */
export type AgentsPlace = AsyncDisposable & {
  readonly agents: AgentHost;
  /** Starts the requested process, if the adapter does not start it without this call. */
  start(name: string): Promise<void>;
  /** Makes the process of the version fail. */
  fail(name: string): Promise<void>;
  /** Creates the adapter of a later operator at the same place, after this one has ended. */
  succeed(): Promise<AgentHost>;
};

const name = 'a-0123456789abcdef0123';

/** The obligations of the port AgentHost, over a real adapter. */
export function describeAgents(title: string, openPlace: () => Promise<AgentsPlace>): void {
  async function open(): Promise<AgentsPlace> {
    const place = await openPlace();
    onTestFinished(() => place[Symbol.asyncDispose]());
    return place;
  }

  async function requestOf(workload = name, resource = 'hello'): Promise<AgentRequest> {
    return { name: workload, resource, bundle: await sampleVersion() };
  }

  function ready(agents: AgentHost, workload = name): Promise<AgentObservation> {
    return until(`${workload} is ready`, () => {
      const observed = agents.observe(workload);
      return observed?.state?.ready === true ? observed : undefined;
    });
  }

  describe(`${title}: agents`, () => {
    test('an agent version that was never requested is not observed and may be removed', async () => {
      const { agents } = await open();
      expect(agents.observe('a-unknown')).toBeUndefined();
      expect([agents.has('a-unknown'), agents.runs('a-unknown')]).toEqual([false, false]);
      agents.remove('a-unknown');
      expect(agents.has('a-unknown')).toBe(false);
    });

    test('a requested agent version becomes ready with its own identity, a verified card and an origin', async () => {
      const { agents, start } = await open();
      const told: string[] = [];
      agents.onChange((resource) => told.push(resource));
      const request = await requestOf();
      agents.ensure(request);
      expect(agents.has(name)).toBe(true);
      expect(agents.observe(name)?.state?.ready ?? false).toBe(false);
      await start(name);
      const { versionId, digest } = request.bundle;
      expect(await ready(agents)).toMatchObject({
        state: { versionId, digest, problems: [], runs: 0 },
        card: 'verified',
        problem: undefined,
      });
      const address = agents.observe(name)?.address ?? '';
      expect(new URL(address).origin).toBe(address);
      expect(agents.runs(name)).toBe(true);
      expect(new Set(told)).toEqual(new Set(['hello']));
    });

    test('two agent versions have different addresses, and removing one does not affect the other', async () => {
      const { agents, start } = await open();
      agents.ensure(await requestOf());
      agents.ensure(await requestOf('a-other', 'other'));
      for (const workload of [name, 'a-other']) {
        await start(workload);
        await ready(agents, workload);
      }
      expect(agents.observe(name)?.address).not.toBe(agents.observe('a-other')?.address);
      agents.remove('a-other');
      expect(agents.has('a-other')).toBe(false);
      await until('it does not run', () => !agents.runs('a-other'));
      await until('it is not observed', () => agents.observe('a-other') === undefined);
      expect((await ready(agents)).card).toBe('verified');
    });

    test('requesting an agent version that runs changes nothing', async () => {
      const { agents, start } = await open();
      agents.ensure(await requestOf());
      await start(name);
      const before = await ready(agents);
      agents.ensure(await requestOf());
      expect(agents.observe(name)).toEqual(before);
    });

    test('an agent process that fails is reported with a reason and a sentence, and is ready after its restart', async () => {
      const { agents, start, fail } = await open();
      agents.ensure(await requestOf());
      await start(name);
      await ready(agents);
      let problem: AgentObservation['problem'];
      agents.onChange(() => {
        problem ??= agents.observe(name)?.problem;
      });
      await fail(name);
      expect(await until('the problem is reported', () => problem)).toMatchObject({
        reason: expect.stringMatching(/^[A-Z][A-Za-z]+$/),
        message: expect.stringMatching(/^\S.{3,599}$/),
      });
      await start(name);
      expect((await ready(agents)).problem).toBeUndefined();
    });

    test('an agent version that is removed and requested again becomes ready again', async () => {
      const { agents, start } = await open();
      agents.ensure(await requestOf());
      await start(name);
      await ready(agents);
      agents.remove(name);
      agents.ensure(await requestOf());
      await start(name);
      expect((await ready(agents)).card).toBe('verified');
    });

    test('after a restart of the operator, an agent version counts as requested, and becomes ready, only after a new request', async () => {
      const place = await open();
      place.agents.ensure(await requestOf());
      await place.start(name);
      await ready(place.agents);
      const next = await place.succeed();
      expect(next.has(name)).toBe(false);
      next.ensure(await requestOf());
      await place.start(name);
      expect((await ready(next)).card).toBe('verified');
    });
  });
}
