import { checkProviderProblem, providerCauses, providerProblems } from '#contracts/provider-causes';

/** Names of objects that the advice mentions. */
type AdviceNames = {
  /** The command name of the CLI. */
  readonly program: string;
  readonly binding: string;
  readonly policy: string;
};

type Advice = (names: AdviceNames) => string;

const reapply = ({ program, binding }: AdviceNames): string => `${program} reapply ${binding}`;
const wait: Advice = () => 'Wait, and look again to see the progress.';
const restart: Advice = () => 'Correct the cause that the message names, then stop "portcullis up" and start it again.';
const platform: Advice = () => 'The operator retries. See its log for details.';
/** Flows are files: the command line of a checkout checks them, the kubectl plugin has no such command. */
const correctVersion: Advice = () =>
  'Correct the problem that the message names ("portcullis flow check FLOW" shows the place), and apply the version under another name: a version never changes.';
const approve: Advice = () =>
  'Add the provider to the approved providers, with the same kind and credential. The operator reads the list again and retries.';

/** The remedies for ProviderReachable; those with the name of another reason have its advice. */
function providerAdvice(): Readonly<Record<string, Advice>> {
  const own = Object.values(providerProblems).filter(({ reason }) => reason !== 'CredentialMissing');
  return Object.fromEntries(own.map(({ reason, remedy }) => [reason, providerRemedy(remedy)]));
}

function providerRemedy(remedy: string): Advice {
  return ({ program, binding }) =>
    `${capitalized(remedy)}. The gateway retries automatically; "${program} provider test --binding ${binding}${connectionOf(program)}" tests each step now.`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The kubectl plugin has no address of the management API or of a service: the reader names it. */
function connectionOf(program: string): string {
  return isPlugin(program) ? ' --server URL --token-file FILE' : '';
}

function isPlugin(program: string): boolean {
  return program.startsWith('kubectl ');
}

/** The remedy for each reason of a condition, a step or an application record. */
export const advice: Readonly<Record<string, Advice>> = {
  NoOperator: () => 'Start the operator. If it ends again, see its log.',
  NotLookedAt: wait,
  Pending: wait,
  Starting: wait,
  NotServed: wait,
  NotTried: wait,
  WaitingForReplicas: () => 'Wait. If this lasts, see the log of the named replica.',
  NoReplica: () => 'Start a replica of that gateway, or correct spec.gateway of the binding.',
  ReplicaNotReady: () => 'Wait. If this lasts, see the log of the replica.',
  ProgressDeadlineExceeded: () => 'Correct the cause that the message names: the operator retries.',
  AliasConflict: () => 'Choose another alias, or delete the binding that owns this one.',
  InvalidSpec: () => 'Correct the field that the message names, and apply the object again.',
  WaitingForRecord: wait,
  IdConflict: () => 'Delete this object and apply it again without the label portcullis.dev/id.',
  InvalidId: () => 'Delete this object and apply it again without the label portcullis.dev/id.',
  PolicyNotFound: ({ policy }) => `Apply the policy ${policy}, or correct policyRef. The operator retries.`,
  PolicyDeleting: ({ policy, binding }) =>
    `To keep ${policy}, apply it again from its file, which cancels the deletion. To complete the deletion, refer to another policy in ${binding}.`,
  PolicyIdConflict: ({ policy }) =>
    `Delete the policy ${policy} and apply it again without the label portcullis.dev/id.`,
  PolicyNotRecorded: wait,
  PolicyRevisionUnknown: ({ program, binding, policy }) =>
    `The operator retries when the revision is recorded. To choose another one, run "${program} history ${policy}", then: ${program} apply-revision ${binding} REVISION`,
  PolicyArchived: (names) =>
    `Set lifecycle of the policy ${names.policy} to Draft, or choose another policy; then: ${reapply(names)}`,
  ProviderUnknown: approve,
  ProviderUnavailable: (names) =>
    `Correct the cause that the message names. The operator asks the provider again within a minute, and at once after: ${reapply(names)}`,
  ProfileUnsupported: () => 'Set contentProfile to one that is supported.',
  BundleInvalid: ({ program, binding, policy }) =>
    `Correct the named rule, save the policy ${policy}, then: ${program} apply-revision ${binding}`,
  RuleTooCostly: ({ program, binding, policy }) =>
    `Make the rule more specific, or move it to a detector; save the policy ${policy}, then: ${program} apply-revision ${binding}`,
  PolicyTestsFailed: ({ program, binding, policy }) =>
    `Correct the rule or the test ("${program} test ${policy}" runs them on this machine), then: ${program} apply-revision ${binding}`,
  ReplicaRejected: (names) => `See the logs of the named replica and of the runtime, then: ${reapply(names)}`,
  RejectedByReplica: (names) =>
    `See the logs of the named replica and of the runtime; if its bundle is missing: ${reapply(names)}`,
  Superseded: () => 'Nothing: a later application replaced this one.',
  RunningAgain: () => 'Wait; the log of the runtime shows why it ended.',
  ReplicaNotAnswering: () =>
    'Wait: a process that does not answer for 10 s is killed and restarted; its log is in the folder logs.',
  ProcessEnded: () => 'See the message and the log of the runtime, or of the agent.',
  ContainerNotStarted: () => 'Correct the cause that the message names, such as a missing Secret. Kubernetes retries.',
  ImagePullFailed: () => 'Check image, registry and imagePullSecrets of the release. Kubernetes retries.',
  Unschedulable: () => 'Free capacity on the nodes or add one. Kubernetes retries.',
  PodsForbidden: () => 'Raise the quota of the namespace or correct the admission rule that the message names.',
  ForeignEndpoint: () =>
    'Remove the label portcullis.dev/workload from the named pod. The workload becomes ready without it.',
  ObjectRefused: () => 'Correct the cause that the message names. The operator retries.',
  BuildMissing: (names) => `This build is no longer available: ${reapply(names)}`,
  BundleMissing: reapply,
  WorkloadMissing: wait,
  ScaledToZero: () => 'Scale it to one replica or more: kubectl scale --replicas=1.',
  ClaimPending: () =>
    'Create the StorageClass that the message names, or set postgresql.storage.storageClassName of the chart to one that exists.',
  ContainerCrashes: () => 'Correct the cause that the message or the log of the pod names. Kubernetes restarts it.',
  DiskFull: () => 'Free space on that disk; the processes continue automatically.',
  DiskUnusable: () => 'Make the folder writable for the user of the platform, or choose another one with --data.',
  PodNotReady: () =>
    'Correct the cause that the log of the pod names, such as a database that does not answer. It becomes ready without a restart.',
  PodStarting: wait,
  PodNotAnswering: () =>
    'Kubernetes kills and restarts it after three failed probes. If it freezes again, see its log.',
  ProcessNotAnswering: () =>
    'Wait: a process that does not answer for 10 s is killed and restarted; its log is in the folder logs.',
  ProcessNotReady: () => 'Wait. If this lasts, see its log in the folder logs.',
  ProcessRestarting: () =>
    'Correct the cause that the message names; the process is restarted automatically. Its log is in the folder logs.',
  ManagementOff: restart,
  RetrievalOff: restart,
  MemoryOff: restart,
  CatalogueOff: restart,
  DatabaseAway: () => 'Start the database, or correct PORTCULLIS_DATABASE_URL. Guarded models are served without it.',
  FileRefused: () => 'Correct the file: the last valid content stays in use until then.',
  FileNotApplied: () => 'Correct the file: it is applied as soon as it is saved.',
  ServerUnreachable: () => 'See the log of the operator, or stop "portcullis up" and start it again.',
  StorageFull: () => 'Free space or raise the quota. The operator retries.',
  StorageDenied: () => 'Give the operator write permission there. It retries.',
  JudgeTimeout: () => 'Give the operator more CPU. The validation is repeated and continues where it stopped.',
  JudgeUnavailable: platform,
  CredentialMissing: () => 'Add the credential to the secrets of providers. It is read again without a restart.',
  ...providerAdvice(),
  WorkloadUnavailable: platform,
  ServerUnavailable: platform,
  Refused: platform,
  Unexpected: platform,
  Deleting: () => 'Wait until requests in flight have finished.',
  RetrievalNotConfigured: () =>
    'Set retrieval.enabled and retrieval.collections.tenants of the chart, or start the platform with --retrieval.',
  TenantNotApproved: () =>
    'Add the tenant to retrieval.collections.tenants of the chart, or correct spec.tenant of a new resource.',
  ProfileUnknown: () => 'Approve the profile in the models of the retrieval service, or correct spec.embeddingProfile.',
  RetrievalUnavailable: () =>
    'See the log of the retrieval service, and whether operator and service have the same token. The operator retries.',
  NameTaken: () => 'Choose another spec.name, or take over the collection that has it with source.mode Existing.',
  IdUsed: () => 'Delete this resource and create it again: it then has another id.',
  NothingToTakeOver: () =>
    'Delete this resource and create it again with the id of an existing collection: spec.source.collectionId cannot be changed.',
  NotManaged: () =>
    'Another resource manages the collection. To manage it with this one, set deletionPolicy: Retain in the other one and delete that.',
  OwnerDiffers: () => 'Create the resource again with the owner that the collection has.',
  TypeDiffers: () => 'Create the resource again with the type that the collection has.',
  AclModelDiffers: () => 'Create the resource again with the aclModel that the collection has.',
  ChunkingDiffers: () => 'Create the resource again with the chunking that the collection has.',
  ParentNotWritable: () =>
    'Correct spec.parent.collectionId, or give the owner the right to write that collection. It is retried each minute.',
  ParentNotPossible: () => 'Choose another spec.parent, or mode None for the top level.',
  IndexFull: () =>
    'Delete documents, divide the collection, raise retrieval.indexMib, or choose a profile of shorter vectors. It is retried each minute.',
  HasChildren: () => 'Move or delete the collections below it: the deletion then continues.',
  DeletionHeld: () => 'Correct the cause that the message names: the operator retries.',
  Reindexing: wait,
  ReindexFailed: ({ program }) =>
    `Correct the cause that the log of the retrieval service names, then: portcullis collection reindex NAME${connectionOf(program)}`,
  CollectionError: () => 'See the log of the retrieval service.',
  FlowInvalid: correctVersion,
  ManifestInvalid: correctVersion,
  TestsInvalid: correctVersion,
  ManifestDiffers: correctVersion,
  CardInvalid: correctVersion,
  TestsFailed: () =>
    'See which node answers otherwise ("portcullis flow test FLOW"), and apply a corrected version under another name.',
  ChecksTimedOut: platform,
  ImagesNotSupported: () => 'Apply the version to a cluster: a standalone platform runs flows only.',
  AgentsNotConfigured: () => 'Set agents.enabled of the chart, or PORTCULLIS_AGENTS_URL of a standalone operator.',
  ServedPolicyUnlisted: () =>
    'List the policy again in served-policies.yaml, or servedPolicies of the chart; or delete the versions of agents that name it.',
  ServedPolicyFailed: () =>
    'Correct what the message names: the policy, its tests, or the revision in served-policies.yaml or servedPolicies of the chart.',
  PolicyNotServed: ({ program }) =>
    'List the policy in served-policies.yaml, or servedPolicies of the chart, with the revision that the version names. ' +
    `If it is listed, its condition Served says why it is not served: ${program} why policy/NAME`,
  CapabilityUnavailable: () =>
    'Leave the capability out of the manifest, and apply the version under another name: it is never advertised unproved.',
  CardDiffers: ({ program }) => `See the log of the process: ${program} logs`,
  CardNotVerified: wait,
  Draining: wait,
  Routed: ({ program }) => `Serve another version: ${program} edit agent/NAME`,
  VersionNotFound: ({ program }) => `Publish the version, or name another one: ${program} edit agent/NAME`,
  VersionOfOtherAgent: ({ program }) => `Name a version of this agent: ${program} edit agent/NAME`,
  VersionDeleting: ({ program }) => `Serve another version: ${program} edit agent/NAME`,
  VersionNotReady: ({ program }) => `See why the version is not ready: ${program} why agentversion/VERSION`,
  CanaryNotFound: ({ program }) => `Publish the version, or end the trial: ${program} edit agent/NAME`,
  CanaryOfOtherAgent: ({ program }) => `End the trial: ${program} edit agent/NAME`,
  CanaryDeleting: ({ program }) => `End the trial: ${program} edit agent/NAME`,
  CanaryNotReady: ({ program }) => `See why the version is not ready: ${program} why agentversion/VERSION`,
  RouteRejected: () => 'Correct the cause that the message names, then change the Agent: it is tried again.',
  NoRoute: wait,
  NoAgentReplica: () => 'Start a gateway that serves agents: it needs PORTCULLIS_AGENT_SIGNING_KEYS_FILE.',
  AccessInvalid: () => 'Shorten the names in spec.owner and spec.access.',
  RelationsNotConfigured: () => 'Set PORTCULLIS_AGENT_ISSUER and the database of the operator.',
  RelationsUnavailable: () => 'See whether the database answers. The operator retries.',
  RelationsMismatch: () =>
    'Start the release that the database was last used with, or restore a dump of this release. ' +
    'If the log of the operator says fault failed, correct what its problem names instead: the operator retries.',
};

/** The remedy for a detector or classifier that does not judge; undefined for another reason. */
export function ruleProviderAdvice(reason: string): string | undefined {
  const cause = providerCauses.find((one) => providerProblems[one].reason === reason);
  if (cause === undefined) return undefined;
  const { remedy } = checkProviderProblem(cause);
  return `${capitalized(remedy)}. The next check that succeeds clears this; the gateway repeats one automatically.`;
}

/** The remedy for a reason; for an unknown reason, the place where to look. */
export function adviceFor(reason: string, names: AdviceNames): string {
  const found = Object.hasOwn(advice, reason) ? advice[reason] : undefined;
  return found?.(names) ?? 'See the conditions of the binding and the log of the operator.';
}

/** Whether a reason belongs to a normal rollout. */
export function isProgress(reason: string): boolean {
  return Object.hasOwn(advice, reason) && advice[reason] === wait;
}
