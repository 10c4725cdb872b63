import { writeReadyLine } from '#kit/process/ready';
import { runMain } from '#kit/process/run-main';
import { readConfig } from './config.ts';
import { createCatalogueService } from './service.ts';

runMain({
  name: 'catalogue',
  start: async (signal) => {
    const { config, secrets } = readConfig();
    const service = await createCatalogueService(config, secrets, { signal });
    // A worker has no API address: its parent waits for the admin address.
    writeReadyLine({ listening: service.url ?? service.adminUrl, admin: service.adminUrl });
    return service;
  },
});
