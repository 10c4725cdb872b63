import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { type Act, bindings, policyNames } from './acts.ts';
import { longestRequestMs } from './gateway-process.ts';
import { type ModelInstallation, startInstallation } from './installation.ts';
import { maxStreamMs, progressDeadlineMs, type Sabotage } from './operator-process.ts';
import { unsettled } from './settled.ts';
import { startVirtualTime, type VirtualTime } from './virtual-time.ts';

type ModelRun = {
  /** Violations during the run and in its final state. */
  readonly broken: readonly string[];
  readonly requests: number;
  readonly writes: number;
  readonly virtualSeconds: number;
};

/**
 * Longest time until the installation is settled after all faults have ended: the deadline of an application, and a few
 * watch timeouts.
 */
const settleMs = progressDeadlineMs + 180_000;
const lookEveryMs = 5_000;
const restMs = 60_000;
const ticking: readonly string[] = ['Lease', 'Event'];

/**
 * Runs one sequence of actions on one simulated installation, ends all faults, and makes last edits that must all be
 * applied.
 */
export async function runModel(
  seed: number,
  acts: readonly Act[],
  options: {
    readonly sabotage?: Sabotage | undefined;
    readonly onStart?: (installation: ModelInstallation, time: VirtualTime) => void;
  } = {},
): Promise<ModelRun> {
  using time = startVirtualTime(seed);
  const installation = startInstallation(time, { sabotage: options.sabotage });
  const writes: string[] = [];
  installation.api.onChange(({ kind, writer, before, after }) => {
    if (ticking.includes(kind.kind)) return;
    writes.push(`${writer} wrote ${kind.kind}/${(after ?? before)?.metadata.name}`);
  });
  options.onStart?.(installation, time);
  await time.advance(3_000);
  for (const act of acts) {
    await installation.perform(act);
    if (installation.watchman.broken.length > 0) break;
  }
  const broken = [...installation.watchman.broken];
  if (broken.length === 0) broken.push(...(await endWell(time, installation, writes)));
  return {
    broken: broken.length > 0 ? broken : [...installation.watchman.broken],
    requests: installation.watchman.requests(),
    writes: writes.length,
    virtualSeconds: time.clock.now() / 1_000,
  };
}

async function endWell(
  time: VirtualTime,
  installation: ModelInstallation,
  writes: readonly string[],
): Promise<readonly string[]> {
  installation.calm();
  const left = await settle(time, installation, () => unsettled(installation));
  if (left.length > 0) return left;
  const unrecorded = await makeLastEdits(time, installation);
  if (unrecorded.length > 0) return unrecorded;
  const last = await settle(time, installation, () => [...unsettled(installation), ...notApplied(installation)]);
  if (last.length > 0) return last;
  // Earlier requests end, so that each replica reports its last use of an old application.
  await time.advance(longestRequestMs);
  const before = writes.length;
  await time.advance(restMs);
  return writes.slice(before).map((sentence) => `at rest ${sentence}`);
}

/** Waits until the installation is settled and has a leader, or until the deadline. */
async function settle(
  time: VirtualTime,
  installation: ModelInstallation,
  missing: () => readonly string[],
): Promise<readonly string[]> {
  const end = time.clock.now() + settleMs;
  let left: readonly string[] = [];
  while (time.clock.now() < end) {
    await time.advance(lookEveryMs);
    if (installation.watchman.broken.length > 0) return installation.watchman.broken;
    left = [...missing(), ...(installation.leader() === undefined ? ['no operator leads'] : [])];
    if (left.length === 0) return [];
  }
  return left.map((sentence) => `in the final state: ${sentence}`);
}

/** Every policy exists and is not archived, and every binding has its own alias and requests a new application. */
async function makeLastEdits(time: VirtualTime, installation: ModelInstallation): Promise<readonly string[]> {
  const { api } = installation;
  // A referenced policy is not deleted, and nothing is applied from it until the references end.
  if (api.list(kinds.guardrailPolicy).items.some(({ metadata }) => metadata.deletionTimestamp !== undefined)) {
    for (const binding of bindings) await installation.perform({ do: 'unguard', binding });
    await time.advance(maxStreamMs);
  }
  for (const policy of policyNames) {
    await installation.perform({ do: 'archive_policy', policy, archived: false });
    await installation.perform({ do: 'save_policy', policy, term: 'last' });
  }
  const unrecorded = await settle(time, installation, () => notRecorded(installation));
  if (unrecorded.length > 0) return unrecorded;
  for (const binding of bindings) {
    await installation.perform({ do: 'rename', binding, alias: binding });
    await installation.perform({ do: 'apply', binding, policy: 'guard', revision: latest(installation, 'guard') });
  }
  return [];
}

function notRecorded({ api }: ModelInstallation): readonly string[] {
  return (api.list(kinds.guardrailPolicy).items as Stored<GuardrailPolicy>[])
    .filter(({ metadata, status }) => status?.observedGeneration !== metadata.generation)
    .map(({ metadata }) => `the policy ${metadata.name} is not recorded`);
}

function latest({ api }: ModelInstallation, name: string): number {
  const policy = api.get(kinds.guardrailPolicy, name) as Stored<GuardrailPolicy> | undefined;
  return policy?.status?.latestRevision?.number ?? 1;
}

function notApplied({ api }: ModelInstallation): readonly string[] {
  return (api.list(kinds.modelBinding).items as Stored<ModelBinding>[]).flatMap(({ metadata, status }) => {
    const applied = status?.conditions?.find(({ type }) => type === 'Applied');
    const record = status?.applications?.[0];
    if (applied?.status === 'True' && record?.outcome === 'Applied') return [];
    return [`${metadata.name} is not applied: ${applied?.reason}: ${applied?.message}`];
  });
}
