import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalBytes, sha256Hex } from '#contracts/canonical';
import { createLogger } from '#kit/log/logger';
import { childEnvironment } from '#kit/process/config';
import { sampleBundle } from '../../../../../e2e/support/sample-policy.ts';
import type { WorkloadRequest, Workloads } from '../../../ports.ts';
import type { WorkloadsPlace } from '../../../testing/workloads-suite.ts';
import { createProcesses } from '../processes.ts';

const root = join(import.meta.dirname, '../../../../..');
const build = 'b1';

/** Real processes of the runtime in a temporary folder. */
export async function openProcessesPlace(): Promise<WorkloadsPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-processes-'));
  for (const name of ['bundles', 'logs', 'run', 'secrets']) await mkdir(join(folder, name));
  await writeFile(join(folder, 'runtime.token'), 'a-token\n');
  const bytes = canonicalBytes(sampleBundle());
  const digest = sha256Hex(bytes);
  await writeFile(join(folder, 'bundles', `${digest}.json`), bytes);
  /** Newest process of each workload. */
  const pids = new Map<string, number>();
  const destination = {
    write(line: string): void {
      const { event, pid, workload } = JSON.parse(line) as Record<'event' | 'workload', string> & { pid?: number };
      if (event === 'runtime_started' && pid !== undefined) pids.set(workload, pid);
    },
  };

  function create(): Workloads {
    return createProcesses({
      runtimeFile: join(root, 'runtime/main.ts'),
      build,
      bundlesDirectory: join(folder, 'bundles'),
      logsDirectory: join(folder, 'logs'),
      runDirectory: join(folder, 'run'),
      secretsDirectory: join(folder, 'secrets'),
      tokenFile: join(folder, 'runtime.token'),
      inherited: childEnvironment(),
      logger: createLogger({ service: 'test', level: 'info', destination }),
    });
  }

  let workloads = create();
  return {
    get workloads() {
      return workloads;
    },
    async request(name, change = {}): Promise<WorkloadRequest> {
      const manifest = workloads.render({ name, digest, build, providers: [] });
      return { name, digest, build, uid: `uid-of-${name}`, manifest, replicas: 1, addresses: [], ...change };
    },
    becomeReady: async () => undefined,
    async failOne(name) {
      process.kill(pids.get(name) ?? 0, 'SIGKILL');
    },
    async succeed() {
      await workloads[Symbol.asyncDispose]();
      workloads = create();
      return workloads;
    },
    async [Symbol.asyncDispose]() {
      await workloads[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
