import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { digestOf } from '#contracts/canonical';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { routedVersion, startAgentPlane } from '../../dataplane/gateway/agents/testing/start-agent-plane.ts';
import { type RunningProcess, startProcess } from '../support/start-process.ts';
import { type CallEnd, callAgent } from './call-while-switching.ts';
import { stubCard } from './stub-card.ts';

/** A version, and when the gateway could send calls to it: from before the switch to it until after the switch away. */
type Served = { readonly versionId: string; readonly process: RunningProcess; readonly from: number; to: number };

type SwitchesResult = {
  readonly calls: number;
  readonly whole: number;
  readonly typed: number;
  /** The codes of these ends, with their numbers. */
  readonly codes: Readonly<Record<string, number>>;
  readonly untyped: readonly string[];
  /** Answers of a version that was not served at any time of the call. */
  readonly misrouted: number;
  /** Calls with an error although the process that had their run, or had to get it, was not killed. */
  readonly foreign: number;
  readonly twice: number;
};

type Options = {
  readonly switches: number;
  /** Whether every second served process is killed with SIGKILL; the other processes end after their last call. */
  readonly kills: boolean;
  /** Callers of whole answers, and as many of streams. */
  readonly callers: number;
  readonly say: (progress: string) => void;
};

const versionOf = (at: number): string => `01890a5d-ac96-774b-bcce-${at.toString(16).padStart(12, '0')}`;
/** A run of a version may call a model. */
const requires = [{ kind: 'Model' as const, name: 'small' }];
/** How long a version is served before the next switch, milliseconds. */
const servedMs = 150;

/**
 * Switches an agent from version to version while callers send runs without a pause. Each stream requests a token of
 * its run from the gateway in the middle. The process of a version that is no longer served is ended as soon as the
 * gateway reports no call of it.
 */
export async function measureSwitches({ switches, kills, callers, say }: Options): Promise<SwitchesResult> {
  using folder = temporaryFolder();
  const runsFile = join(folder.path, 'runs');
  writeFileSync(runsFile, '');
  await using world = await startAgentPlane({ atOnce: 4 * callers, perMinute: 1_000_000 });
  await using processes = new AsyncDisposableStack();
  world.allow('ann', 'invoke');
  const killed = new Set<string>();
  const history: Served[] = [];
  const ends: CallEnd[] = [];
  let isOver = false;
  let sent = 0;

  async function start(at: number) {
    const versionId = versionOf(at);
    const child = await startProcess({
      file: 'e2e/agents/stub-agent-process.ts',
      args: [versionId, runsFile],
      environment: { PORTCULLIS_AGENT_GATEWAY_URL: world.url },
    });
    const process = processes.use(child);
    const cardDigest = digestOf(stubCard);
    const routed = routedVersion(process, { versionId, modes: ['A2A'], cardDigest, requires });
    return { process, routed };
  }
  async function call(kind: 'send' | 'stream'): Promise<void> {
    while (!isOver) {
      sent += 1;
      const id = `run-${sent}`;
      // A token is valid for five minutes.
      const token = await world.personToken('ann');
      ends.push(await callAgent(world.url, { id, kind, token }));
    }
  }
  const inUse = (): readonly string[] =>
    world.gateway.reports.at(-1)?.agents?.inUse.map(({ versionId }) => versionId) ?? [];

  let present = await start(0);
  await world.serve({ versions: [present.routed] });
  history.push({ versionId: versionOf(0), process: present.process, from: 0, to: Number.POSITIVE_INFINITY });
  const calling = Array.from({ length: 2 * callers }, (_, at) => call(at % 2 === 0 ? 'send' : 'stream'));
  for (let at = 1; at <= switches; at += 1) {
    const next = await start(at);
    await pause(servedMs);
    const before = history.at(-1);
    const isKilled = kills && at % 2 === 0;
    if (isKilled && before !== undefined) {
      killed.add(before.versionId);
      before.process.signal('SIGKILL');
      await pause(servedMs);
    }
    const from = performance.now();
    const versions = isKilled ? [next.routed] : [next.routed, present.routed];
    await world.serve({ versions });
    if (before !== undefined) before.to = performance.now();
    history.push({ versionId: versionOf(at), process: next.process, from, to: Number.POSITIVE_INFINITY });
    if (!isKilled && before !== undefined) {
      await world.serve({ versions: [next.routed] });
      await until(`no call uses version ${at - 1}`, () => !inUse().includes(before.versionId), { everyMs: 5 });
      await before.process.end();
    }
    present = next;
    if (at % 10 === 0) say(`${at} switches, ${ends.length} calls`);
  }
  isOver = true;
  await Promise.all(calling);
  return judge(ends, { history, killed, runs: readFileSync(runsFile, 'utf8') });
}

function judge(
  ends: readonly CallEnd[],
  {
    history,
    killed,
    runs,
  }: { readonly history: readonly Served[]; readonly killed: ReadonlySet<string>; readonly runs: string },
): SwitchesResult {
  const versionsOf = new Map<string, string[]>();
  for (const line of runs.split('\n').filter((one) => one !== '')) {
    const [id = '', version = ''] = line.split(' ');
    versionsOf.set(id, [...(versionsOf.get(id) ?? []), version]);
  }
  const wasServed = (versionId: string, { begun, ended }: CallEnd): boolean =>
    history.some((one) => one.versionId === versionId && one.from <= ended && one.to >= begun);
  /** Whether the run of a failed call was in a killed process, or could only be sent to a killed process. */
  const isOfKilled = (end: CallEnd): boolean => {
    const ran = versionsOf.get(end.id);
    if (ran !== undefined) return ran.every((version) => killed.has(version));
    return [...killed].some((version) => wasServed(version, end));
  };
  const whole = ends.filter(({ result }) => result.kind === 'whole');
  const failed = ends.filter(({ result }) => result.kind !== 'whole');
  return {
    calls: ends.length,
    whole: whole.length,
    typed: failed.filter(({ result }) => result.kind === 'typed').length,
    codes: countCodes(failed),
    untyped: failed.flatMap(({ result }) => (result.kind === 'untyped' ? [result.why] : [])),
    misrouted: whole.filter((end) => end.result.kind === 'whole' && !wasServed(end.result.version, end)).length,
    foreign: failed.filter((end) => !isOfKilled(end)).length,
    twice: [...versionsOf.values()].filter((versions) => versions.length > 1).length,
  };
}

function countCodes(failed: readonly CallEnd[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { result } of failed) if (result.kind === 'typed') counts[result.code] = (counts[result.code] ?? 0) + 1;
  return counts;
}
