import { openTokenFile } from '#kit/http/token-file';
import { createLogger } from '#kit/log/logger';
import { createMetrics } from '#kit/metrics/metrics';
import { writeReadyLine } from '#kit/process/ready';
import { runMain } from '#kit/process/run-main';
import { startFolderApi } from '../http/start-folder-api.ts';

/** A process that serves only the folder API, for tests that kill it: `serve-folder.ts DIRECTORY TOKEN_FILE`. */
const [, , directory = '', token = ''] = process.argv;

runMain({
  name: 'folder-api',
  async start() {
    const api = await startFolderApi({
      directory,
      listen: { host: '127.0.0.1', port: 0 },
      tokenFile: openTokenFile(token),
      namespace: 'default',
      logger: createLogger({ service: 'folder-api', level: 'warn' }),
      metrics: createMetrics({ service: 'folder-api' }),
    });
    writeReadyLine({ listening: api.url });
    return api;
  },
});
