import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { fileAgentBundle } from '../testing/file-agent.ts';
import { openFolderWorld, openServiceWorld } from '../testing/file-world.ts';
import { startAgent } from '../testing/start-agent.ts';

const fileTimes = { checkMs: 5_000, readMs: 300, probeMs: 20 };
type Running = Awaited<ReturnType<typeof startAgent>>;

async function readiness(agent: Running) {
  const state = (await (await fetch(`${agent.adminUrl}/state`)).json()) as { ready: boolean; problems: object[] };
  const health = await agent.call('GET', '/health/ready');
  const probe = await fetch(`${agent.adminUrl}/readyz`);
  await probe.text();
  return { ready: state.ready, problems: state.problems, health: health.status, probe: probe.status };
}

const away = {
  ready: false,
  problems: [{ code: 'advertised_capability_unavailable', capability: 'files' }],
  health: 503,
  probe: 503,
};

test('a version with files is not ready while its folder cannot be read, and is ready again afterwards', async () => {
  await using world = await openFolderWorld();
  await using agent = await startAgent({ bundle: fileAgentBundle(), config: { files: world.place }, fileTimes });
  expect(await readiness(agent)).toMatchObject({ ready: true, health: 200, probe: 200 });
  const files = join(world.root, 'files');
  await rename(files, `${files}-moved`);
  await until('it is not ready', async () => !(await readiness(agent)).ready);
  expect(await readiness(agent)).toMatchObject(away);
  expect((await agent.call('GET', '/health/live')).status).toBe(200);
  expect((await agent.call('GET', '/tasks')).status).toBe(200);
  await rename(`${files}-moved`, files);
  await until('it is ready again', async () => (await readiness(agent)).ready);
});

test('a version with files is not ready from its start while the file service does not answer or does not have its key', async () => {
  const world = await openServiceWorld();
  const start = (token: string) =>
    startAgent({ bundle: fileAgentBundle(), config: { files: world.place }, fileServiceToken: token, fileTimes });
  await using known = await start(String(world.token));
  expect(await readiness(known)).toMatchObject({ ready: true, health: 200, probe: 200 });
  expect(world.service?.counts).toEqual({ checks: 0, downloads: 0 });
  await using unknown = await start('another-key');
  expect(await readiness(unknown)).toMatchObject(away);
  await world[Symbol.asyncDispose]();
  await until('it is not ready', async () => !(await readiness(known)).ready);
  await using late = await start(String(world.token));
  expect(await readiness(late)).toMatchObject(away);
});
