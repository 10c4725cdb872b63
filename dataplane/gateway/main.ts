import { writeReadyLine } from '#kit/process/ready';
import { runMain } from '#kit/process/run-main';
import { readConfig } from './config.ts';
import { createGatewayService } from './service.ts';

runMain({
  name: 'gateway',
  start: async () => {
    const { config, secrets } = readConfig();
    const service = await createGatewayService(config, secrets);
    writeReadyLine({ listening: service.url, admin: service.adminUrl });
    return service;
  },
});
