import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuid } from 'uuid';
import type { Bundle } from '#contracts/bundle';
import { canonicalBytes } from '#contracts/canonical';
import { type RunningProcess, startProcess } from './start-process.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { until } from './until.ts';

/** A runtime process that serves a bundle, with the token that it accepts. */
export type ServingRuntime = RunningProcess & { readonly token: string };

/** Starts a runtime on files that exist, and waits until it is ready. */
export async function startRuntimeOn(bundleFile: string, tokenFile: string): Promise<RunningProcess> {
  const runtime = await startProcess({
    file: 'runtime/main.ts',
    environment: {
      PORTCULLIS_LISTEN: '127.0.0.1:0',
      PORTCULLIS_BUNDLE_FILE: bundleFile,
      PORTCULLIS_TOKEN_FILE: tokenFile,
    },
  });
  await until('the runtime is ready', async () => (await fetch(`${runtime.url}/readyz`)).status === 200);
  return runtime;
}

/** Starts a runtime on a bundle, with files of its own that vanish with it. */
export async function startRuntime(bundle: Bundle): Promise<ServingRuntime> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryFolder()).path;
  const token = uuid();
  writeFileSync(join(folder, 'bundle.json'), canonicalBytes(bundle));
  writeFileSync(join(folder, 'token'), `${token}\n`, { mode: 0o600 });
  const runtime = stack.use(await startRuntimeOn(join(folder, 'bundle.json'), join(folder, 'token')));
  const owned = stack.move();
  return { ...runtime, token, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
