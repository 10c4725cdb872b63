import { writeReadyLine } from '#kit/process/ready';
import { runMain } from '#kit/process/run-main';
import { readConfig } from './config.ts';
import { createSignInService } from './service.ts';

runMain({
  name: 'signin',
  start: async () => {
    const service = await createSignInService(readConfig());
    writeReadyLine({ listening: service.url });
    return service;
  },
});
