import { writeReadyLine } from '#kit/process/ready';
import { runMain } from '#kit/process/run-main';
import { readConfig } from './config.ts';
import { createRuntime } from './service.ts';

runMain({
  name: 'runtime',
  start: async (signal) => {
    const { config, secrets } = readConfig();
    const runtime = await createRuntime(config, secrets);
    writeReadyLine({ listening: runtime.url });
    await runtime.loaded(signal);
    return runtime;
  },
});
