import type { Bundle } from '#contracts/bundle';
import type { ProviderCause } from '#contracts/provider-causes';
import type { ServedLimits } from '#contracts/served-target';

/** The result of validating a bundle. */
export type ValidationResult =
  | {
      readonly kind: 'accepted';
      /** Whether the rules of the policy can judge streamed answers in windows (docs/design/streaming.md). */
      readonly streaming: { readonly allowed: true } | { readonly allowed: false; readonly rule: string };
      /** Whether the policy can judge long texts in pieces; undefined if only the streams of a route are known. */
      readonly division: ServedLimits['division'] | undefined;
      readonly warnings: readonly string[];
    }
  | {
      readonly kind: 'refused';
      readonly reason: 'bundle_invalid' | 'rule_too_costly';
      readonly message: string;
    };

/** One text that the rules of a policy check. */
export type BundleCheck = {
  readonly name: string;
  readonly policyId: string;
  readonly stage: 'request' | 'response';
  readonly messages: readonly { readonly role: string; readonly content: string }[];
};

export type BundleCheckResult = {
  readonly name: string;
  readonly decision: 'Pass' | 'Reject' | 'Mask' | 'Failed';
  readonly code: string | undefined;
  /** Why the provider of a rule did not judge. */
  readonly cause?: ProviderCause;
  /** The id of the rule that denied the text, or the ids of the rules that masked it. */
  readonly rules: readonly string[];
};

/** Validates bundles outside of every serving process. */
export type Judge = {
  /**
   * Compiles the bundle and estimates its cost. The same bytes are validated only once. A validation that took too
   * long, was killed or could not be started is not a refusal: the call throws and may be retried.
   * @throws BrokenError `JudgeTimeout`, `JudgeUnavailable`
   */
  judge(bundle: { readonly bytes: Buffer; readonly digest: string }, signal: AbortSignal): Promise<ValidationResult>;
  /**
   * Runs texts through the local rules; with `providers: 'called'` also through rules that call a provider. One result
   * per check, in order; never cached.
   * @throws BrokenError `CredentialMissing` if a called provider has no credential, and the errors of `judge`
   */
  check(
    bundle: Bundle,
    checks: readonly BundleCheck[],
    options: { readonly providers: 'skipped' | 'called'; readonly signal: AbortSignal },
  ): Promise<readonly BundleCheckResult[]>;
};

/** Keeps the bytes of bundles where the processes of a workload can read them. Disposing stops the watching. */
export type BundleStore = AsyncDisposable & {
  /**
   * Stores the bytes under their digest atomically. A bundle that is already stored is not written again, and an object
   * with the same name and another digest is never overwritten. No sweep removes the bundle before the holding is
   * disposed: before that the caller must have written an object that names the bundle.
   * @throws FileWriteError, KubeError; BrokenError if another object has the name
   */
  put(digest: string, bytes: Buffer): Promise<Disposable>;
  /** Whether the bundle is stored; the content is not read. */
  has(digest: string): Promise<boolean>;
  /** Removes every stored bundle that is neither needed nor held. Only one sweep runs at a time. */
  sweep(listNeeded: () => Promise<ReadonlySet<string>>): Promise<void>;
  /**
   * Sets the listener, which is called with the digest of a bundle that is no longer stored, perhaps late or twice.
   * There is one listener at a time.
   */
  onLost(listener: (digest: string) => void): void;
};
