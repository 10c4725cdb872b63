import { writeReadyLine } from '#kit/process/ready';
import { runMain } from '#kit/process/run-main';
import { readConfig } from './config.ts';
import { createManagementService } from './service.ts';

runMain({
  name: 'management',
  start: async (signal) => {
    const { config, secrets } = readConfig();
    const service = await createManagementService(config, secrets, { signal });
    writeReadyLine({ listening: service.url, admin: service.adminUrl });
    return service;
  },
});
