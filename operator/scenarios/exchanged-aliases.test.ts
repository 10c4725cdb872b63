import { expect, test } from 'vitest';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import { type FakeReplica, startFakeReplica } from '../testing/fake-replica.ts';
import { bindingObject } from '../testing/objects.ts';
import {
  applyFirst,
  editBinding,
  startTestOperator,
  type TestOperator,
  waitForCondition,
  waitForRoute,
} from '../testing/start-test-operator.ts';

/** Gives a binding another alias. */
const rename = (platform: TestOperator, name: string, alias: string): Promise<unknown> =>
  editBinding(platform, name, { model: { ...bindingObject(name).spec.model, alias } });

/** Applies bindings whose aliases equal their names. */
async function applyAll(platform: TestOperator, replica: FakeReplica, names: readonly string[]): Promise<void> {
  await applyFirst(platform, [replica]);
  for (const name of names) {
    await platform.client.create(kinds.modelBinding, bindingObject(name));
    await waitForRoute(platform, name, 'it has a route', () => true);
    await replica.report('take');
    await waitForCondition(platform, name, 'Applied', 'True');
  }
}

async function routesOf({ client }: TestOperator): Promise<Readonly<Record<string, string>>> {
  const { items } = await client.list<GatewayRoute>(kinds.gatewayRoute);
  return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec.alias]));
}

/** Every version of every route, in order, from now on. */
async function recordRoutes({ client }: TestOperator) {
  const { items, resourceVersion } = await client.list<GatewayRoute>(kinds.gatewayRoute);
  const stop = new AbortController();
  const held = new Map(items.map(({ metadata, spec }) => [metadata.name, spec.alias]));
  const broken: string[] = [];
  const moves: string[] = [];
  const watching = (async () => {
    for await (const event of client.watch<GatewayRoute>(kinds.gatewayRoute, {
      resourceVersion,
      signal: stop.signal,
    })) {
      if (event.type === 'BOOKMARK') continue;
      const { metadata, spec } = event.object;
      if (event.type === 'DELETED') held.delete(metadata.name);
      else {
        if (held.get(metadata.name) !== spec.alias) moves.push(metadata.name);
        held.set(metadata.name, spec.alias);
        if (spec.guardrail.mode !== 'Policy') broken.push(`${metadata.name} is not guarded`);
      }
      if (new Set(held.values()).size !== held.size) broken.push(`one alias twice: ${[...held.values()].join(', ')}`);
    }
  })().catch(() => undefined);
  return {
    broken,
    moves,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await watching;
    },
  };
}

test.concurrent.each([
  ['two bindings', ['chat', 'mail']],
  ['three bindings of an alias cycle', ['chat', 'mail', 'news']],
])('%s exchange their aliases; no alias is ever held twice or unguarded', async (_what, names) => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await applyAll(platform, replica, names.slice(1));
  const before = await Promise.all(
    names.map((name) => platform.client.get<GatewayRoute>(kinds.gatewayRoute, name).then((route) => route?.spec)),
  );
  await using seen = await recordRoutes(platform);
  const wanted = names.map((_name, index) => names[(index + 1) % names.length] ?? '');
  for (const [index, name] of names.entries()) await rename(platform, name, wanted[index] ?? '');
  for (const [index, name] of names.entries()) {
    const route = await waitForRoute(platform, name, 'it has moved', ({ spec }) => spec.alias === wanted[index]);
    // The application is still the same, because no workload was started for the new alias.
    expect(route.spec.generationId).toBe(before[index]?.generationId);
    expect(route.metadata.annotations?.['portcullis.dev/left-alias']).toBeUndefined();
  }
  await replica.report('take');
  for (const name of names) {
    await waitForCondition(platform, name, 'Accepted', 'True');
    await waitForCondition(platform, name, 'Applied', 'True');
    await waitForCondition(platform, name, 'Ready', 'True');
  }
  expect(seen.broken).toEqual([]);
  // One binding of the exchange released its alias first and moved twice; the other bindings moved once.
  expect(seen.moves).toHaveLength(names.length + 1);
});

test.concurrent('a cancelled exchange of aliases returns every binding to its previous alias', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await applyAll(platform, replica, ['mail']);
  // The route has released its alias, as for a binding that requested it and then returned to its own.
  const route = await platform.client.get<GatewayRoute>(kinds.gatewayRoute, 'chat');
  await rename(platform, 'chat', 'mail');
  await waitForCondition(platform, 'chat', 'Accepted', 'False', 'AliasConflict');
  await platform.client.patch(kinds.gatewayRoute, 'chat', [
    { op: 'replace', path: '/spec/alias', value: `~${route?.spec.binding.id}` },
    { op: 'add', path: '/metadata/annotations', value: { 'portcullis.dev/left-alias': '["default","chat"]' } },
  ]);
  await waitForRoute(platform, 'chat', 'it goes back', ({ spec }) => spec.alias === 'chat');
  expect(await routesOf(platform)).toEqual({ chat: 'chat', mail: 'mail' });
  await rename(platform, 'chat', 'chat');
  await waitForCondition(platform, 'chat', 'Accepted', 'True');
});

test.concurrent('a released alias is taken by the binding that requests it, and then the aliases that other bindings wait for are taken, too', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await applyAll(platform, replica, ['mail', 'news']);
  await using seen = await recordRoutes(platform);
  await rename(platform, 'mail', 'chat');
  await rename(platform, 'news', 'mail');
  await waitForCondition(platform, 'news', 'Accepted', 'False', 'AliasConflict');
  expect(await routesOf(platform)).toEqual({ chat: 'chat', mail: 'mail', news: 'news' });
  await rename(platform, 'chat', 'elsewhere');
  await waitForRoute(platform, 'news', 'the last binding has moved', ({ spec }) => spec.alias === 'mail');
  expect(await routesOf(platform)).toEqual({ chat: 'elsewhere', mail: 'chat', news: 'mail' });
  await replica.report('take');
  for (const name of ['chat', 'mail', 'news']) await waitForCondition(platform, name, 'Ready', 'True');
  expect(seen.broken).toEqual([]);
  expect(seen.moves).toEqual(['chat', 'mail', 'news']);
});
