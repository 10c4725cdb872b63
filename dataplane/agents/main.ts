import { writeReadyLine } from '#kit/process/ready';
import { runMain } from '#kit/process/run-main';
import { readConfig } from './config.ts';
import { createAgentService } from './service.ts';

runMain({
  name: 'agent',
  start: async () => {
    const { config, secrets } = readConfig();
    const service = await createAgentService(config, secrets);
    writeReadyLine({ listening: service.url, admin: service.adminUrl });
    return service;
  },
});
