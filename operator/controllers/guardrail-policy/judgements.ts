import { assembleBundle } from '#contracts/assemble-bundle';
import { digestOf } from '#contracts/canonical';
import { currentProfile } from '#contracts/profiles';
import { testWarnings } from '#contracts/test-warnings';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { wait } from '#kit/time/wait';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { Judge } from '../../bundles/ports.ts';
import type { Environment } from '../../environment/read-environment-files.ts';

/** Whether the rules of a policy would be admitted with the settings of this platform. */
export type PolicyJudgement =
  | { readonly kind: 'valid'; readonly warnings: readonly string[] }
  | {
      readonly kind: 'refused';
      readonly reason: 'bundle_invalid' | 'rule_too_costly' | 'provider_unknown' | 'profile_unsupported';
      readonly message: string;
    };

/** The first pause before a policy that could not be judged is judged again; it doubles with each failure. */
const firstRetryMs = 5_000;
const maxRetryMs = 300_000;

type JudgementsOptions = {
  readonly judge: Judge;
  /** The approved providers and limits now. */
  readonly environment: () => Environment;
  readonly logger: Logger;
  /** Called with the name of a policy when its judgement is complete or must be requested again. */
  readonly onDue: (name: string) => void;
  /** Waits for some milliseconds; replaced in tests. */
  readonly pause?: typeof wait;
};

/**
 * Judges recorded policies one after another, in the background: no pass waits for a judgement, and applications make
 * separate judgements. Disposing aborts the running judgement.
 */
export type PolicyJudgements = AsyncDisposable & {
  /** The judgement of this generation; undefined until it is known. */
  of(policy: Pick<Stored<GuardrailPolicy>, 'metadata'>): PolicyJudgement | undefined;
  /** Judges this generation once; a later generation of the same policy takes its place. */
  request(policy: Stored<GuardrailPolicy>, revision: number): void;
  forget(uid: string): void;
  /** SHA-256 of the limits and approved providers that judgements depend on now. */
  settingsDigest(): string;
};

type Known = {
  readonly generation: number;
  /** The settings that it was judged with. */
  readonly environment: Environment;
  readonly judgement?: PolicyJudgement;
};

export function createPolicyJudgements(options: JudgementsOptions): PolicyJudgements {
  const { logger, onDue, environment, pause = wait } = options;
  let settings: { readonly of: Environment; readonly digest: string } | undefined;
  const known = new Map<string, Known>();
  /** For each policy UID, the number of consecutive failed judgements. */
  const failures = new Map<string, number>();
  const waiting = new Map<string, { readonly policy: Stored<GuardrailPolicy>; readonly revision: number }>();
  const stop = new AbortController();
  let running = Promise.resolve();
  let isRunning = false;

  async function run(): Promise<void> {
    for (const [uid, { policy, revision }] of waiting) {
      waiting.delete(uid);
      const { generation, name } = policy.metadata;
      const used = environment();
      try {
        const judgement = await judgePolicy(options, policy, revision, stop.signal);
        failures.delete(uid);
        if (known.get(uid)?.generation !== generation) continue;
        known.set(uid, { generation, environment: used, judgement });
        onDue(name);
      } catch (error) {
        if (stop.signal.aborted) return;
        logger.warn('policy_not_judged', { policy: name, error: describeFailure(error) });
        // A later generation waits for its own judgement.
        if (known.get(uid)?.generation !== generation) continue;
        known.delete(uid);
        void askAgain(uid, name);
      }
    }
    isRunning = false;
  }

  /** A failed judgement is not a refusal: a later pass over the policy requests it again. */
  async function askAgain(uid: string, name: string): Promise<void> {
    const count = failures.get(uid) ?? 0;
    failures.set(uid, count + 1);
    await pause(Math.min(maxRetryMs, firstRetryMs * 2 ** count), stop.signal);
    if (!stop.signal.aborted && failures.has(uid)) onDue(name);
  }

  function isKnown(found: Known | undefined, generation: number): found is Known {
    return found?.generation === generation && found.environment === environment();
  }

  return {
    of({ metadata: { uid, generation } }) {
      const found = known.get(uid);
      return isKnown(found, generation) ? found.judgement : undefined;
    },
    request(policy, revision) {
      const { uid, generation } = policy.metadata;
      if (stop.signal.aborted || isKnown(known.get(uid), generation)) return;
      known.set(uid, { generation, environment: environment() });
      waiting.set(uid, { policy, revision });
      if (isRunning) return;
      isRunning = true;
      running = run();
    },
    forget(uid) {
      known.delete(uid);
      waiting.delete(uid);
      failures.delete(uid);
    },
    settingsDigest() {
      const now = environment();
      if (settings?.of !== now)
        settings = { of: now, digest: digestOf({ limits: now.limits, approved: now.approved }) };
      return settings.digest;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

/** @throws BrokenError as Judge does */
async function judgePolicy(
  { judge, environment }: JudgementsOptions,
  { metadata, spec }: Stored<GuardrailPolicy>,
  revision: number,
  signal: AbortSignal,
): Promise<PolicyJudgement> {
  const policyId = metadata.labels?.[idLabel] ?? metadata.uid;
  const { definition, tests = [] } = spec;
  const contentProfile = currentProfile;
  const { limits, approved } = environment();
  // This is the bundle of the next application, so that the same bundle is judged only once.
  const built = assembleBundle({ policyId, revision: String(revision), definition, contentProfile, limits, approved });
  if (built.kind === 'refused') return { kind: 'refused', reason: built.reason, message: built.message };
  const judged = await judge.judge(built, signal);
  if (judged.kind === 'refused') return judged;
  const checks = tests.map(({ name, stage, messages }) => ({ name, policyId, stage, messages }));
  const results = checks.length === 0 ? [] : await judge.check(built.bundle, checks, { providers: 'skipped', signal });
  const run = tests.map(({ stage }, at) => ({ stage, rules: results[at]?.rules ?? [] }));
  return { kind: 'valid', warnings: [...judged.warnings, ...testWarnings(definition, run)] };
}
