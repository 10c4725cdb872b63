import { writeReadyLine } from '#kit/process/ready';
import { runMain } from '#kit/process/run-main';
import { readConfig } from './config.ts';
import { createIssuerService } from './service.ts';

runMain({
  name: 'issuer',
  start: async () => {
    const service = await createIssuerService(readConfig());
    writeReadyLine({ listening: service.url });
    return service;
  },
});
