import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bundle, bundleSchemaName, defaultBundleLimits } from '#contracts/bundle';
import { canonicalBytes, digestOf } from '#contracts/canonical';
import type { AdditionalRule, BaselineRule, Section } from '#contracts/policy';
import { type ContentProfile, currentProfile } from '#contracts/profiles';
import { until } from '#kit/testing/until';
import { type RunningProcess, startProcess } from '../../../e2e/support/start-process.ts';
import type { PolicyPin } from './route-builder.ts';

/** A stop-list rule for the given strings. */
export function termRule(
  id: string,
  terms: readonly string[],
  action: BaselineRule['action'] = { type: 'deny' },
  match: 'substring' | 'token' = 'substring',
): BaselineRule & { kind: 'stop_list' } {
  const stopList = { terms: [...terms], match, caseSensitive: true };
  return { id, kind: 'stop_list', timeoutMs: 500, action: action as { type: 'deny' }, stopList };
}

/** A policy section; without rules of the test, it has one rule that matches no text of the tests. */
export function policySection(
  baseline: readonly BaselineRule[] = [],
  additional: readonly AdditionalRule[] = [],
): Section {
  const rules = baseline.length > 0 ? [...baseline] : [termRule('nothing', ['\u{10fffd}\u{10fffc}'])];
  return { deadlineMs: 1_000, baseline: rules, additional: [...additional] };
}

/** A running guardrail runtime, and the values that a route to it needs. */
export type RunningPolicy = AsyncDisposable & {
  readonly runtime: RunningProcess;
  readonly pin: PolicyPin;
  readonly contentProfile: ContentProfile;
};

/** Starts the real runtime with a bundle of one policy and waits until it is ready. */
export async function startPolicy(
  folder: string,
  token: string,
  policy: { readonly request: Section; readonly response: Section },
  options: {
    readonly contentProfile?: ContentProfile;
    readonly limits?: Partial<Bundle['limits']>;
    readonly providers?: Bundle['providers'];
    readonly environment?: Readonly<Record<string, string>>;
  } = {},
): Promise<RunningPolicy> {
  const contentProfile = options.contentProfile ?? currentProfile;
  const bundle: Bundle = {
    schema: bundleSchemaName,
    contentProfile,
    limits: { ...defaultBundleLimits, ...options.limits },
    policies: [{ id: 'policy', revision: '1', ...policy }],
    providers: options.providers ?? [],
  };
  const digest = digestOf(bundle);
  const bundleFile = join(folder, `${digest}.json`);
  const tokenFile = join(folder, 'runtime.token');
  await writeFile(bundleFile, canonicalBytes(bundle));
  await writeFile(tokenFile, `${token}\n`);
  const runtime = await startProcess({
    file: 'runtime/main.ts',
    environment: {
      PORTCULLIS_LISTEN: '127.0.0.1:0',
      PORTCULLIS_BUNDLE_FILE: bundleFile,
      PORTCULLIS_TOKEN_FILE: tokenFile,
      ...options.environment,
    },
  });
  await until('the runtime is ready', async () => (await fetch(`${runtime.url}/readyz`)).status === 200);
  return {
    runtime,
    contentProfile,
    pin: { policyId: 'policy', policyRevision: '1', digest, addresses: [runtime.url] },
    [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose](),
  };
}
