import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeGatewayReplicas } from '../../testing/gateway-replicas-suite.ts';
import { createGatewayProcesses } from './gateway-processes.ts';

describeGatewayReplicas('local processes', async () => {
  const runDirectory = await mkdtemp(join(tmpdir(), 'portcullis-run-'));
  const replicas = createGatewayProcesses({ runDirectory });
  const pathOf = (replica: string): string => join(runDirectory, `${replica}.json`);
  return {
    replicas,
    start: (replica) =>
      writeFile(
        pathOf(replica),
        JSON.stringify({ name: replica, kind: 'gateway', pid: process.pid, admin: 'http://127.0.0.1:9090' }),
      ),
    end: (replica) => rm(pathOf(replica)),
    async [Symbol.asyncDispose]() {
      await replicas[Symbol.asyncDispose]();
      await rm(runDirectory, { recursive: true, force: true });
    },
  };
});
