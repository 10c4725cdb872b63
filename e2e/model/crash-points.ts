import { builtinKinds } from '#kube/client/builtin-kinds';
import { kinds } from '#resources/kinds';
import type { Death } from '../../operator/testing/mortal-client.ts';
import type { Act } from './acts.ts';
import { type ModelInstallation, startInstallation } from './installation.ts';
import type { MemoryApi } from './memory-api.ts';
import { unsettled } from './settled.ts';
import { startVirtualTime, type VirtualTime } from './virtual-time.ts';

/** Edits that make an operator perform each kind of write; each waits until the installation is settled. */
const story: readonly Act[] = [
  { do: 'save_policy', policy: 'guard', term: 'one' },
  { do: 'apply', binding: 'chat', policy: 'guard', revision: 1 },
  { do: 'save_policy', policy: 'guard', term: 'two' },
  { do: 'apply', binding: 'chat', policy: 'guard', revision: 2 },
  { do: 'scale', binding: 'chat', replicas: 2 },
  { do: 'apply', binding: 'mail', policy: 'guard', revision: 2 },
  { do: 'apply', binding: 'chat', policy: 'guard', revision: 1 },
  { do: 'save_policy', policy: 'other', term: 'uncompilable' },
  { do: 'apply', binding: 'mail', policy: 'other', revision: 1 },
  { do: 'remove_bundles' },
  { do: 'unguard', binding: 'mail' },
  { do: 'rename', binding: 'mail', alias: 'news' },
  { do: 'delete_binding', binding: 'chat' },
  { do: 'delete_policy', policy: 'other' },
];

type CrashPoints = {
  readonly deaths: number;
  /** Crashes after which the final state differs from that of a run without a crash. */
  readonly differing: readonly string[];
};

/** Kills the operator before and after each of its writes and compares the final states. */
export async function runCrashPoints(say: (progress: string) => void): Promise<CrashPoints> {
  const whole = await tell(undefined);
  if (whole.broken.length > 0) return { deaths: 0, differing: whole.broken };
  const differing: string[] = [];
  const deaths = Array.from({ length: whole.writes }, (_one, index) => index + 1).flatMap((write): Death[] => [
    { write, moment: 'before' },
    { write, moment: 'after' },
  ]);
  for (const [index, death] of deaths.entries()) {
    const told = await tell(death);
    const where = `${death.moment} write ${death.write}`;
    differing.push(...told.broken.map((sentence) => `${where}: ${sentence}`));
    if (told.broken.length === 0 && told.end !== whole.end)
      differing.push(`${where}: ${difference(whole.end, told.end)}`);
    if (index % 40 === 39) say(`${index + 1} of ${deaths.length} crashes`);
  }
  return { deaths: deaths.length, differing };
}

async function tell(death: Death | undefined) {
  using time = startVirtualTime(1);
  const installation = startInstallation(time, death === undefined ? {} : { death });
  const broken: string[] = [];
  await time.advance(3_000);
  for (const act of story) {
    await installation.perform(act);
    broken.push(...(await settle(time, installation)));
    if (broken.length > 0) break;
  }
  const [first] = installation.operators();
  return { broken, writes: first?.client.writes() ?? 0, end: describeEnd(installation.api) };
}

async function settle(time: VirtualTime, installation: ModelInstallation): Promise<readonly string[]> {
  const end = time.clock.now() + 90_000;
  let left: readonly string[] = [];
  while (time.clock.now() < end) {
    await time.advance(2_000);
    installation.calm();
    if (installation.watchman.broken.length > 0) return installation.watchman.broken;
    left = [...unsettled(installation), ...(installation.leader() === undefined ? ['no operator leads'] : [])];
    if (left.length === 0) return [];
  }
  return left;
}

/** Kinds whose specs only users change: their number of changes is the same in every run. */
const edited: readonly string[] = [kinds.guardrailPolicy.kind, kinds.modelBinding.kind, kinds.policyRevision.kind];
const compared = [...Object.values(kinds), builtinKinds.configMap, builtinKinds.deployment, builtinKinds.service];
/** Differences between two runs without a meaning: generated names, versions and times. */
const arbitrary: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID'],
  [/[0-9a-f]{64}/g, 'DIGEST'],
  [/(g-|portcullis-bundle-)[0-9a-f]{16,20}/g, '$1HASH'],
  [/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, 'TIME'],
  [/"(resourceVersion|appliedThrough|version)":"\d+"/g, '"$1":VERSION'],
];

function describeEnd(api: MemoryApi): string {
  const objects = compared.flatMap((kind) =>
    api.list(kind).items.map((object) => {
      const text = JSON.stringify(object);
      return edited.includes(kind.kind)
        ? text
        : text.replaceAll(/"(observedGeneration|generation)":\d+/g, '"$1":COUNT');
    }),
  );
  const plain = objects.map((text) => arbitrary.reduce((result, [found, by]) => result.replaceAll(found, by), text));
  return plain.toSorted().join('\n');
}

function difference(a: string, b: string): string {
  const [left, right] = [a.split('\n'), b.split('\n')];
  const missing = left.filter((line) => !right.includes(line));
  const added = right.filter((line) => !left.includes(line));
  return `missing ${missing.join(' | ').slice(0, 2_000)}; instead ${added.join(' | ').slice(0, 2_000)}`;
}
