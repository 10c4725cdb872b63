import { LOG_LEVELS } from '#kit/log/logger';
import { setting } from './setting.ts';

/** The addresses of a service with an API. */
export const addressSettings = {
  PORTCULLIS_LISTEN: setting.hostPort({ help: 'address for clients of the API', default: '127.0.0.1:0' }),
  PORTCULLIS_ADMIN_LISTEN: setting.hostPort({
    help: 'address of /livez, /readyz and /metrics',
    default: '127.0.0.1:0',
  }),
};

export const logSettings = {
  PORTCULLIS_LOG_LEVEL: setting.choice({ help: 'minimum level of log lines', choices: LOG_LEVELS, default: 'info' }),
};
