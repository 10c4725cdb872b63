/** What sentences of advice speak of. */
export type AdviceNames = {
  /** The words with which the command line is called. */
  readonly program: string;
  readonly binding: string;
  readonly policy: string;
};

type Advice = (names: AdviceNames) => string;

const reapply = ({ program, binding }: AdviceNames): string => `${program} reapply ${binding}`;
const wait: Advice = () => 'Wait; repeat this command to see how far it is.';
const platform: Advice = () => 'It is tried again by itself; the log of the operator says more.';
const approve: Advice = () =>
  'List the provider among the approved providers, with the same kind and credential, and start the operator again: the binding goes on by itself.';

/** What to do about each reason of a condition, a link or a record of an application. */
const advice: Readonly<Record<string, Advice>> = {
  NoOperator: () => 'Start the operator, and look at its log if it does not stay.',
  NotLookedAt: wait,
  Pending: wait,
  Starting: wait,
  WaitingForReplicas: () => 'Wait; when it lasts, look at the log of the replica that is named.',
  NoReplica: () => 'Start a replica of that gateway, or correct spec.gateway of the binding.',
  ReplicaNotReady: () => 'Wait; when it lasts, look at the log of the replica.',
  ProgressDeadlineExceeded: () => 'Mend what was waited for: the binding goes on by itself.',
  AliasConflict: () => 'Choose another alias, or delete the binding that owns this one.',
  IdConflict: () => 'Delete this object and apply it again without the label portcullis.dev/id.',
  InvalidId: () => 'Delete this object and apply it again without the label portcullis.dev/id.',
  PolicyNotFound: ({ policy }) => `Apply the policy ${policy}, or correct policyRef; the binding goes on by itself.`,
  PolicyIdConflict: ({ policy }) =>
    `Delete the policy ${policy} and apply it again without the label portcullis.dev/id.`,
  PolicyNotRecorded: wait,
  PolicyRevisionUnknown: ({ program, binding, policy }) =>
    `It goes on by itself when the revision is recorded. See what there is with "${program} history ${policy}", then: ${program} apply-revision ${binding} REVISION`,
  PolicyArchived: (names) =>
    `Set lifecycle of the policy ${names.policy} to Draft, or choose another policy; then: ${reapply(names)}`,
  ProviderUnknown: approve,
  ProviderUnavailable: (names) =>
    `Check endpoint, credential and timeoutMs of the provider that is named, then: ${reapply(names)}`,
  ProfileUnsupported: () => 'Set contentProfile to one that is supported.',
  BundleInvalid: ({ program, binding, policy }) =>
    `Correct the rule that is named, save the policy ${policy}, then: ${program} apply-revision ${binding}`,
  RuleTooCostly: ({ program, binding, policy }) =>
    `Write the rule narrower, or move it into a detector; save the policy ${policy}, then: ${program} apply-revision ${binding}`,
  PolicyTestsFailed: ({ program, binding, policy }) =>
    `Correct the rule or the test ("${program} test ${policy}" runs them here), then: ${program} apply-revision ${binding}`,
  ReplicaRejected: (names) =>
    `Look at the log of the replica that is named and of the runtime, then: ${reapply(names)}`,
  RejectedByReplica: (names) =>
    `Look at the log of the replica that is named and of the runtime; when its bundle is gone: ${reapply(names)}`,
  Superseded: () => 'Nothing: a later application came first.',
  RunningAgain: () => 'Wait; the log of the runtime says why it ended.',
  ProcessEnded: () => 'The message says how it ended; the log of the runtime says more.',
  BuildMissing: (names) => `That build cannot be run here any more: ${reapply(names)}`,
  BundleMissing: reapply,
  WorkloadMissing: wait,
  StorageFull: () => 'Free space, or raise the quota; it goes on by itself.',
  StorageDenied: () => 'Give the operator the right to write there; it goes on by itself.',
  JudgeUnavailable: platform,
  CredentialMissing: () =>
    'Add the credential that is named to the secrets of providers; the binding goes on by itself.',
  WorkloadUnavailable: platform,
  ServerUnavailable: platform,
  Refused: platform,
  Unexpected: platform,
  Deleting: () => 'Wait until requests under way have ended.',
};

/** The reasons that are known, in no order. */
export const knownReasons: readonly string[] = Object.keys(advice);

/** What to do about a reason; where it is none of ours, where to look. */
export function adviceFor(reason: string, names: AdviceNames): string {
  const found = Object.hasOwn(advice, reason) ? advice[reason] : undefined;
  return found?.(names) ?? 'Look at the conditions of the binding and at the log of the operator.';
}
