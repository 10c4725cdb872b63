import { expect, test } from 'vitest';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import type { WatchEvent } from '../../client/client.ts';
import { KubeError } from '../../client/kube-error.ts';
import { listAll } from '../../client/list-all.ts';
import { compareVersions } from '../../watch/compare-versions.ts';
import { samplePolicy } from '../sample-resources.ts';
import { type ClientSource, changes, collect, expectRefused, policies, present, rename } from './resource-calls.ts';

export function testList(client: ClientSource): void {
  const selector = { labelSelector: 'suite=list' };

  test('the pages of a list show one point in time, ordered by name', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `list-${index}`);
    for (const name of names) await client().create(policies, samplePolicy(name, { labels: { suite: 'list' } }));
    const first = await client().list(policies, { ...selector, limit: 3 });
    expect(first.continue).toBeDefined();
    await client().create(policies, samplePolicy('list-9', { labels: { suite: 'list' } }));
    const gone = await present(client(), 'list-5');
    await client().delete(policies, 'list-5', { uid: gone.metadata.uid });
    const seen = [...first.items];
    let page = first;
    while (page.continue !== undefined) {
      page = await client().list(policies, { ...selector, limit: 3, continue: page.continue });
      expect(page.resourceVersion).toBe(first.resourceVersion);
      seen.push(...page.items);
    }
    expect(seen.map((item) => item.metadata.name)).toEqual(names);
    const events = await collect(client(), page.resourceVersion, 2);
    expect(events).toEqual(['ADDED list-9', 'DELETED list-5']);
  });

  test('a label selector returns the matching objects in full', async () => {
    await client().create(policies, samplePolicy('select-a', { labels: { pick: 'a' } }));
    await client().create(policies, samplePolicy('select-b', { labels: { pick: 'b' } }));
    const chosen = await client().list<GuardrailPolicy>(policies, { labelSelector: 'pick=a' });
    expect(chosen.items).toEqual([await client().get(policies, 'select-a')]);
    const notB = await client().list(policies, { labelSelector: 'pick,pick!=b' });
    expect(notB.items.map((item) => item.metadata.name)).toEqual(['select-a']);
    const either = await client().list(policies, { labelSelector: 'pick in (a,b)' });
    expect(either.items).toHaveLength(2);
  });

  test('a list with an unknown continue token fails', async () => {
    await expect(client().list(policies, { limit: 3, continue: 'bm9ib2R5' })).rejects.toBeInstanceOf(KubeError);
  });
}

export function testWatch(client: ClientSource): void {
  test('a watch delivers every change after a version, in order of versions', async () => {
    const { resourceVersion } = await listAll(client(), policies);
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('watch-one'));
    const second = await rename(client(), first, 'Second');
    await client().delete(policies, 'watch-one', { uid: second.metadata.uid });
    const events: WatchEvent<GuardrailPolicy>[] = [];
    for await (const event of changes(client(), resourceVersion)) {
      events.push(event);
      if (events.length === 3) break;
    }
    expect(events.map((event) => event.type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    expect(events[0]?.object).toEqual(first);
    expect(events[1]?.object).toEqual(second);
    const versions = events.map((event) => event.object.metadata.resourceVersion);
    expect(versions).toEqual(versions.toSorted(compareVersions));
    expect(new Set(versions).size).toBe(3);
  });

  test('a watch that resumes after any event misses no change', async () => {
    const { resourceVersion } = await listAll(client(), policies);
    for (const name of ['resume-1', 'resume-2', 'resume-3']) await client().create(policies, samplePolicy(name));
    let version = resourceVersion;
    const seen: string[] = [];
    while (seen.length < 3) {
      for await (const event of changes(client(), version)) {
        version = event.object.metadata.resourceVersion;
        if (event.type !== 'BOOKMARK') seen.push(event.object.metadata.name);
        break;
      }
    }
    expect(seen).toEqual(['resume-1', 'resume-2', 'resume-3']);
  });

  test('a watch delivers a change that happens after its start', async () => {
    const { resourceVersion } = await listAll(client(), policies);
    const events = collect(client(), resourceVersion, 1);
    await client().create(policies, samplePolicy('watch-later'));
    expect(await events).toEqual(['ADDED watch-later']);
  });

  test('the server ends a watch at its timeout', async () => {
    const { resourceVersion } = await listAll(client(), policies);
    const started = performance.now();
    for await (const event of client().watch(policies, { resourceVersion, timeoutSeconds: 1 })) {
      expect(event.type).toBe('BOOKMARK');
    }
    expect(performance.now() - started).toBeGreaterThan(900);
  });

  test('a watch from an expired version fails with the code "gone"', async () => {
    await expectRefused(
      'gone',
      (async () => {
        for await (const event of client().watch(policies, { resourceVersion: '1', timeoutSeconds: 2 })) return event;
        return undefined;
      })(),
    );
  });
}
