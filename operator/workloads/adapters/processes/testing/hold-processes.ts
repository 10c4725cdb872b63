import { join } from 'node:path';
import { createLogger } from '#kit/log/logger';
import { childEnvironment } from '#kit/process/config';
import { createProcesses } from '../processes.ts';

/** The parent process of one runtime, for tests that kill the parent. */
const [folder = '', digest = ''] = process.argv.slice(2);
const workloads = createProcesses({
  runtimeFile: join(import.meta.dirname, '../../../../../runtime/main.ts'),
  build: 'b1',
  bundlesDirectory: join(folder, 'bundles'),
  logsDirectory: join(folder, 'logs'),
  runDirectory: join(folder, 'run'),
  secretsDirectory: join(folder, 'secrets'),
  tokenFile: join(folder, 'runtime.token'),
  inherited: childEnvironment(),
  logger: createLogger({ service: 'test', level: 'error' }),
});
workloads.onChange((name) => {
  const { ready, addresses } = workloads.observe(name);
  if (ready > 0) process.stdout.write(`${addresses.join(' ')}\n`);
});
const manifest = workloads.render({ name: 'g-held', digest, build: 'b1', providers: [] });
workloads.ensure({ name: 'g-held', uid: 'held', digest, build: 'b1', manifest, replicas: 1, addresses: [] });
