import { setImmediate } from 'node:timers/promises';
import { ConfigError } from '../../env/config-error.ts';
import { createLogger } from '../../log/logger.ts';
import { writeReadyLine } from '../ready.ts';
import { runMain } from '../run-main.ts';

/** A process for the tests of `runMain`; the first argument selects its behaviour. */
const [what = 'serve'] = process.argv.slice(2);

const tell = (event: string) => process.stderr.write(`event ${event}\n`);
const never = () => new Promise<never>(() => undefined);

const ends: Readonly<Record<string, () => Promise<void>>> = {
  stuck: never,
  failing: () => Promise.reject(Object.assign(new Error('disk gone'), { code: 'EIO' })),
  logging: async () => {
    for (let line = 0; line < 10; line++) createLogger({ service: 'life', level: 'info' }).info('line', { line });
    await setImmediate();
  },
  leaky: async () => void setInterval(() => undefined, 1000),
};

async function start(signal: AbortSignal): Promise<AsyncDisposable> {
  switch (what) {
    case 'misconfigured':
      throw new ConfigError(['A is missing', 'B is wrong']);
    case 'unlucky':
      throw Object.assign(new Error('cannot listen:\nport in use'), { code: 'port_in_use' });
    case 'buggy':
      throw new TypeError('quotes hunter2');
    case 'rejecting':
      setTimeout(() => void Promise.reject(new TypeError('quotes hunter2')));
      break;
    case 'throwing':
      setTimeout(() => {
        throw new TypeError('quotes hunter2');
      });
      break;
    case 'slow-start':
      writeReadyLine({ listening: 'soon' });
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      tell('aborted');
      throw signal.reason;
  }
  writeReadyLine({ listening: 'http://127.0.0.1:1', pid: process.pid });
  return {
    async [Symbol.asyncDispose]() {
      tell(`dispose ${signal.aborted}`);
      await ends[what]?.();
      tell('disposed');
    },
  };
}

runMain({ name: 'life', start, ...(what === 'stuck' ? { shutdownMs: 300 } : {}) });
