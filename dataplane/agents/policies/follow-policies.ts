import { join } from 'node:path';
import type { CheckTarget } from '#checks/check-target';
import { type GuardTarget, servedGuardTarget } from '#checks/guard/guard-target';
import type { AgentBundle } from '#contracts/agent-bundle';
import type { Stage } from '#contracts/policy';
import { type ServedTarget, servedTargetSchema } from '#contracts/served-target';
import { type Followed, followFiles } from '#environment/follow-files';
import { readYamlFile } from '#environment/read-yaml-file';
import { ConfigError } from '#kit/env/config-error';
import type { PolicyTargets } from '../steps/policy-targets.ts';

type FollowPoliciesOptions = {
  /** Folder of files `NAME.json`, one for each served policy; undefined if no policy is named. */
  readonly folder: string | undefined;
  readonly bundle: AgentBundle;
  readonly onRefused: (policy: string) => void;
};

type Policies = PolicyTargets &
  AsyncDisposable & {
    /** The policies whose newest target was refused, each with the target that is still used. */
    moved(): ReadonlyMap<string, CheckTarget>;
  };

/**
 * Follows the target of every policy that a version names. The bundle of the version fixes the revision of each
 * guardrail: a target of another revision is refused, so that no call is judged by a policy other than the published
 * one.
 * @throws ConfigError if a policy has no usable target at the start
 */
export async function followPolicies({ folder, bundle, onRefused }: FollowPoliciesOptions): Promise<Policies> {
  await using parts = new AsyncDisposableStack();
  const revisions = revisionsOf(bundle);
  if (revisions.size > 0 && folder === undefined) {
    throw new ConfigError(['PORTCULLIS_POLICY_TARGETS_DIR is missing: the version names policies']);
  }
  const followed = new Map<string, Followed<ServedTarget>>();
  const refused = new Set<string>();
  for (const [name, revision] of revisions) {
    const path = join(folder ?? '', `${name}.json`);
    const read = async (): Promise<ServedTarget> => {
      const { value, problems } = await readYamlFile(path, servedTargetSchema, undefined);
      if (problems.length > 0 || value === undefined) throw new ConfigError(problems);
      if (revision === undefined || value.policyRevision === String(revision)) return value;
      throw new ConfigError([`${path}: has another revision of the policy than the version names`]);
    };
    const refuse = (): void => {
      refused.add(name);
      onRefused(name);
    };
    const take = (): void => void refused.delete(name);
    followed.set(name, parts.use(await followFiles({ paths: [path], read, onTaken: take, onRefused: refuse })));
  }
  const targetOf = (name: string, stage: Stage): GuardTarget | undefined => {
    const target = followed.get(name)?.current();
    return target === undefined ? undefined : servedGuardTarget(target, stage);
  };
  const owned = parts.move();
  return {
    target: targetOf,
    moved() {
      const targets = [...refused].map((name) => [name, targetOf(name, 'request')] as const);
      return new Map(targets.flatMap(([name, target]) => (target === undefined ? [] : [[name, target]])));
    },
    judgesWindows: (name) => followed.get(name)?.current().streaming?.allowed === true,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The policies that a version names, each with the revision that its guardrails fix. */
function revisionsOf({ guardrails, requires }: AgentBundle): ReadonlyMap<string, number | undefined> {
  const revisions = new Map<string, number | undefined>();
  for (const { kind, name } of requires) if (kind === 'policy') revisions.set(name, undefined);
  for (const guardrail of [guardrails.input, guardrails.output]) {
    if (guardrail !== 'None') revisions.set(guardrail.name, guardrail.revision);
  }
  return revisions;
}
