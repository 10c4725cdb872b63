import { assembleBundle } from '#contracts/assemble-bundle';
import { currentProfile } from '#contracts/profiles';
import { testWarnings } from '#contracts/test-warnings';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
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

type JudgementsOptions = {
  readonly judge: Judge;
  /** The approved providers and limits now. */
  readonly environment: () => Environment;
  readonly logger: Logger;
  /** Called with the name of a policy when its judgement is known. */
  readonly onJudged: (name: string) => void;
};

/**
 * Judges recorded policies one after another, beside the passes: a pass never waits for it, and applications have their
 * own judgement. Disposing aborts the one that runs.
 */
export type PolicyJudgements = AsyncDisposable & {
  /** The judgement of this generation, once it is known. */
  of(policy: Pick<Stored<GuardrailPolicy>, 'metadata'>): PolicyJudgement | undefined;
  /** Judges this generation once; a later generation of the same policy takes its place. */
  request(policy: Stored<GuardrailPolicy>, revision: number): void;
  forget(uid: string): void;
  /** Whether limits or approved providers changed since this process started: judgements of statuses may be outdated. */
  hasNewSettings(): boolean;
};

type Known = {
  readonly generation: number;
  /** The settings that it was judged with. */
  readonly environment: Environment;
  readonly judgement?: PolicyJudgement;
};

export function createPolicyJudgements(options: JudgementsOptions): PolicyJudgements {
  const { logger, onJudged, environment } = options;
  const first = environment();
  const known = new Map<string, Known>();
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
        if (known.get(uid)?.generation !== generation) continue;
        known.set(uid, { generation, environment: used, judgement });
        onJudged(name);
      } catch (error) {
        if (stop.signal.aborted) return;
        // Nothing is known against the policy: the next pass over it asks again.
        known.delete(uid);
        logger.warn('policy_not_judged', { policy: name, error: describeFailure(error) });
      }
    }
    isRunning = false;
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
    },
    hasNewSettings: () => environment() !== first,
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
  // The bundle of the next application, so that it is judged once.
  const built = assembleBundle({ policyId, revision: String(revision), definition, contentProfile, limits, approved });
  if (built.kind === 'refused') return { kind: 'refused', reason: built.reason, message: built.message };
  const judged = await judge.judge(built, signal);
  if (judged.kind === 'refused') return judged;
  const checks = tests.map(({ name, stage, messages }) => ({ name, policyId, stage, messages }));
  const results = checks.length === 0 ? [] : await judge.check(built.bundle, checks, { providers: 'skipped', signal });
  const run = tests.map(({ stage }, at) => ({ stage, rules: results[at]?.rules ?? [] }));
  return { kind: 'valid', warnings: [...judged.warnings, ...testWarnings(definition, run)] };
}
