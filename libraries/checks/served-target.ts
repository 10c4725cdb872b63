import type { Stage } from '#contracts/policy';
import { type ServedTarget, servedTargetSchema } from '#contracts/served-target';
import { type Followed, followFiles } from '#environment/follow-files';
import { readYamlFile } from '#environment/read-yaml-file';
import { ConfigError } from '#kit/env/config-error';
import type { CheckTarget } from './check-target.ts';

type FollowTargetOptions = {
  readonly path: string;
  /** Called with each target that takes effect. */
  readonly onTaken: (target: ServedTarget, isFirst: boolean) => void;
  readonly onRefused: (problems: readonly string[]) => void;
  readonly everyMs?: number;
};

/**
 * The current target of a served policy, for documents of any length. A target whose policy cannot judge long texts in
 * pieces is refused: at the start with an error, later by keeping the previous target, whose processes keep serving for
 * as long as a stream may last.
 * @throws ConfigError when the file cannot be used at the start
 */
export function followServedTarget({ path, ...options }: FollowTargetOptions): Promise<Followed<ServedTarget>> {
  return followFiles({ ...options, paths: [path], read: () => readServedTarget(path) });
}

async function readServedTarget(path: string): Promise<ServedTarget> {
  const { value, problems } = await readYamlFile(path, servedTargetSchema, undefined);
  if (problems.length > 0 || value === undefined) throw new ConfigError(problems);
  const { division } = value;
  if (!division.allowed) {
    throw new ConfigError([
      `${path}: the policy cannot judge long texts in pieces because of ${division.rule}: change it`,
    ]);
  }
  return value;
}

/** The target of the checks of one stage. */
export function servedCheckTarget(served: ServedTarget, stage: Stage): CheckTarget {
  const { bundleDigest: digest, deadlineMs, addresses, policyId, policyRevision, contentProfile } = served;
  const { maxBodyBytes, maxMessages } = served;
  return {
    addresses,
    policyId,
    policyRevision,
    digest,
    contentProfile,
    maxBodyBytes,
    maxMessages,
    deadlineMs: deadlineMs[stage],
  };
}
