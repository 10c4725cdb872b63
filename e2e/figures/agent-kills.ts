import { hasProcessTable } from '#kit/testing/process-table';
import { until } from '#kit/testing/until';
import { missingPostgres } from '#sql/testing/test-server';
import { openAgentWorld, slowestAnswerMs } from '../agent-kills/agent-world.ts';
import { type ClientEnd, followRun } from '../agent-kills/follow-run.ts';
import { openGatewayWorld } from '../agent-kills/gateway-world.ts';
import type { Figure } from '../support/figure.ts';
import { median } from '../support/median.ts';
import { randomFrom } from '../support/random-from.ts';

const bounds = { againMs: 5_000 } as const;
const sizes = {
  small: { kills: 5, gatewayKills: 3, runs: 4 },
  full: { kills: 200, gatewayKills: 100, runs: 4 },
} as const;

export const figure: Figure = {
  name: 'agent-kills',
  title:
    `the process of an agent is killed in the middle of runs, called directly and through the gateway: each run ends typed at ` +
    `its client, none runs twice, and the version serves again within ${bounds.againMs / 1_000} s`,
  async run(size, say) {
    if (!hasProcessTable) return { skipped: 'this system does not list its processes in /proc' };
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const { kills, gatewayKills, runs } = sizes[size];
    const random = randomFrom(31);
    await using world = await openAgentWorld();
    const ends: ClientEnd[] = [];
    const again: number[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      const origin = await world.ready();
      const questions = Array.from({ length: runs }, (_, at) => `question ${kill}-${at}${'abcdefgh'[(kill + at) % 8]}`);
      const following = questions.map((question, at) => followRun(origin, question, at % 2 === 0 ? 'send' : 'stream'));
      await new Promise((resolve) => setTimeout(resolve, random() * slowestAnswerMs));
      const pid = world.pid();
      if (pid === undefined) throw new Error('the version has no process');
      process.kill(pid, 'SIGKILL');
      const killed = performance.now();
      ends.push(...(await Promise.all(following)));
      again.push((await servesAgain(world, `after ${kill}`)) - killed);
      if ((kill + 1) % 20 === 0) say(`${kill + 1} kills, the last one took ${again.at(-1)?.toFixed(0)} ms`);
    }
    const behind = await killBehindGateway(gatewayKills, runs, random);
    for (const end of [...ends, ...behind.ends]) if (end.kind === 'untyped') say(end.why);
    const twice = timesTwice(world.asked);
    const slowest = Math.max(...again);
    const [direct, through] = [countEnds(ends), countEnds(behind.ends)];
    const isHit = direct.broken > 0 && through.refused > 0;
    const isTyped = direct.untyped === 0 && through.untyped === 0 && through.broken === 0;
    return {
      holds: isHit && isTyped && twice + behind.twice === 0 && slowest <= bounds.againMs,
      line:
        `${kills} kills under ${ends.length} runs: ${endsText(direct)}, ${twice} run twice; serving again after ` +
        `${median(again).toFixed(0)} ms, at most ${slowest.toFixed(0)} ms; ${gatewayKills} kills under ${behind.ends.length} ` +
        `runs through the gateway: ${endsText(through)}, ${behind.twice} run twice`,
    };
  },
};

/** Kills the process of a version whose clients call it through the gateway, and starts it again. */
async function killBehindGateway(kills: number, runs: number, random: () => number) {
  await using world = await openGatewayWorld(slowestAnswerMs / 2, random);
  const ends: ClientEnd[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const ways = Array.from({ length: runs }, (_, at) => (at % 2 === 0 ? 'send' : 'stream'));
    const following = ways.map((way, at) => world.follow(`question ${kill}-${at}`, way));
    await until('a question has reached the model', () =>
      [...world.asked().keys()].some((question) => question.startsWith(`question ${kill}-`)),
    );
    await new Promise((resolve) => setTimeout(resolve, (random() * slowestAnswerMs) / 2));
    world.kill();
    ends.push(...(await Promise.all(following)));
    await world.restart();
  }
  return { ends, twice: timesTwice(world.asked()) };
}

function timesTwice(asked: ReadonlyMap<string, number>): number {
  return [...asked.values()].filter((times) => times > 1).length;
}

type EndCounts = Readonly<Record<ClientEnd['kind'], number>>;

function countEnds(ends: readonly ClientEnd[]): EndCounts {
  const count = (kind: ClientEnd['kind']): number => ends.filter((end) => end.kind === kind).length;
  return { broken: count('broken'), answered: count('answered'), refused: count('refused'), untyped: count('untyped') };
}

function endsText({ broken, answered, refused, untyped }: EndCounts): string {
  return `${broken} broken off, ${answered} answered, ${refused} refused, ${untyped} without a type`;
}

/** Sends requests until the version answers. @returns the time of the first answer, milliseconds */
async function servesAgain(world: Awaited<ReturnType<typeof openAgentWorld>>, prefix: string): Promise<number> {
  const end = performance.now() + 60_000;
  for (let attempt = 0; performance.now() < end; attempt += 1) {
    const origin = await world.address();
    if (origin !== undefined) {
      const { kind } = await followRun(origin, `${prefix}, attempt ${attempt} `, 'send');
      if (kind === 'answered') return performance.now();
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the version does not serve again within 60 s');
}
