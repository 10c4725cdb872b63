import { writeReadyLine } from '#kit/process/ready';
import { runMain } from '#kit/process/run-main';
import { readConfig } from './config.ts';
import { createPostgresService } from './service.ts';

runMain({
  name: 'postgres',
  start: async (signal) => {
    const service = await createPostgresService(readConfig(), signal);
    writeReadyLine({ listening: service.url, admin: service.adminUrl });
    return service;
  },
});
