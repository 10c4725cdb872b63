import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLogger } from '#kit/log/logger';
import { createMetrics } from '#kit/metrics/metrics';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { watchEnvironment } from '../environment/watch-environment.ts';
import { startFakeReplica } from '../testing/fake-replica.ts';
import {
  applyFirst,
  startTestOperator,
  testProviders,
  waitForCondition,
  waitForRoute,
} from '../testing/start-test-operator.ts';

const list = (endpoint: string): string =>
  `providers: [{ name: echo, kind: model, endpoint: "${endpoint}", enabled: true }]\n`;

test('a change of providers.yaml reaches the routes without a restart; an invalid or missing file changes nothing', async () => {
  const lines: string[] = [];
  const logger = createLogger({
    service: 'operator',
    level: 'info',
    destination: { write: (line) => lines.push(line) },
  });
  await using platform = await startTestOperator({ overrides: { logger } });
  const file = join(platform.data, 'providers.yaml');
  const replica = await startFakeReplica(platform, 'gateway-1');
  await replica.report('take');
  await applyFirst(platform, [replica]);
  const endpointIs = (endpoint: string) =>
    waitForRoute(platform, 'chat', `the route calls ${endpoint}`, ({ spec }) => spec.upstream.endpoint === endpoint);
  const metric = async () =>
    (await (await fetch(new URL('/metrics', platform.operator.url))).text()).match(
      /^portcullis_environment_files_valid\{[^}]*\} (\d)$/m,
    )?.[1];

  writeFileSync(file, list('http://127.0.0.1:9/v2'));
  const { spec } = await endpointIs('http://127.0.0.1:9/v2');
  const { generationId } = spec;
  expect(await metric()).toBe('1');

  writeFileSync(file, 'providers: [{ name: echo, secret-key-material');
  await until('the broken file is refused', () => lines.some((line) => line.includes('environment_refused')));
  expect(await metric()).toBe('0');
  expect(lines.join('')).not.toContain('secret-key-material');
  rmSync(file);
  await until('the lost file is refused', () => lines.some((line) => line.includes('providers.yaml is missing')));
  await endpointIs('http://127.0.0.1:9/v2');

  writeFileSync(file, list('http://127.0.0.1:9/v3'));
  const after = await endpointIs('http://127.0.0.1:9/v3');
  expect(after.spec.generationId).toBe(generationId);
  expect(await metric()).toBe('1');

  // A provider that is removed from the list serves no more requests.
  writeFileSync(file, 'providers: []\n');
  await waitForRoute(platform, 'chat', 'the route is disabled', (route) => route.spec.state === 'Disabled');
  await waitForCondition(platform, 'chat', 'ResolvedRefs', 'False', 'ProviderUnknown');
  writeFileSync(file, testProviders);
  await waitForRoute(platform, 'chat', 'the route is enabled', (route) => route.spec.state === 'Enabled');
});

test('files of a ConfigMap are read again when the kubelet exchanges the link of its folder', async () => {
  using folder = temporaryFolder();
  const publish = (version: string, endpoint: string, limits: string): void => {
    const content = join(folder.path, version);
    mkdirSync(content);
    writeFileSync(join(content, 'providers.yaml'), list(endpoint));
    writeFileSync(join(content, 'limits.yaml'), limits);
    symlinkSync(version, join(folder.path, '..data_tmp'));
    renameSync(join(folder.path, '..data_tmp'), join(folder.path, '..data'));
  };
  publish('..1', 'http://a/v1', 'maxMessages: 8\n');
  const files = { providers: join(folder.path, 'providers.yaml'), limits: join(folder.path, 'limits.yaml') };
  for (const name of ['providers.yaml', 'limits.yaml']) symlinkSync(join('..data', name), join(folder.path, name));
  const logger = createLogger({ service: 'test', level: 'error', destination: { write: () => undefined } });
  await using environment = await watchEnvironment({
    files,
    logger,
    metrics: createMetrics({ service: 'test' }),
    everyMs: 20,
  });
  let changes = 0;
  environment.onChange(() => {
    changes += 1;
  });
  expect(environment.current()).toMatchObject({ limits: { maxMessages: 8 } });
  publish('..2', 'http://b/v1', 'maxMessages: 16\n');
  await until('both files are read again', () => {
    const { approved, limits } = environment.current();
    return approved[0]?.endpoint === 'http://b/v1' && limits.maxMessages === 16;
  });
  expect(changes).toBeGreaterThan(0);
});
