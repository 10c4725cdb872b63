import { until } from '#kit/testing/until';
import { type RunningProcess, startProcess } from './start-process.ts';

/** Starts a runtime with existing files and waits until it is ready. */
export async function startTestRuntime(
  bundleFile: string,
  tokenFile: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningProcess> {
  const runtime = await startProcess({
    file: 'runtime/main.ts',
    environment: {
      PORTCULLIS_LISTEN: '127.0.0.1:0',
      PORTCULLIS_BUNDLE_FILE: bundleFile,
      PORTCULLIS_TOKEN_FILE: tokenFile,
      ...environment,
    },
  });
  await until('the runtime is ready', async () => (await fetch(`${runtime.url}/readyz`)).status === 200);
  return runtime;
}
