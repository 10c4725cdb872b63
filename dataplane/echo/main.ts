import { writeReadyLine } from '#kit/process/ready';
import { runMain } from '#kit/process/run-main';
import { readConfig } from './config.ts';
import { createEchoService } from './service.ts';

runMain({
  name: 'echo',
  start: async () => {
    const service = await createEchoService(readConfig());
    writeReadyLine({ listening: service.url });
    return service;
  },
});
