import { writeReadyLine } from '#kit/process/ready';
import { runMain } from '#kit/process/run-main';
import { readConfig, readCookieKey } from './config.ts';
import { createConsoleService } from './service.ts';

runMain({
  name: 'console',
  start: async () => {
    const { config, cookieKeyFile } = readConfig();
    const service = await createConsoleService(config, readCookieKey(cookieKeyFile));
    writeReadyLine({ listening: service.url, admin: service.adminUrl });
    return service;
  },
});
