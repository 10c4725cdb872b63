import { hasProcessTable } from '#kit/testing/process-table';
import { openAgentWorld, slowestAnswerMs } from '../agent-kills/agent-world.ts';
import { type ClientEnd, followRun } from '../agent-kills/follow-run.ts';
import type { Figure } from '../support/figure.ts';
import { median } from '../support/median.ts';
import { randomFrom } from '../support/random-from.ts';

const bounds = { againMs: 5_000 } as const;
const sizes = { small: { kills: 5, runs: 4 }, full: { kills: 200, runs: 4 } } as const;

export const figure: Figure = {
  name: 'agent-kills',
  title:
    `the process of an agent is killed in the middle of runs: each run ends typed at its client, none runs twice, and the ` +
    `version serves again within ${bounds.againMs / 1_000} s`,
  async run(size, say) {
    if (!hasProcessTable) return { skipped: 'this system does not list its processes in /proc' };
    const { kills, runs } = sizes[size];
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
    const count = (kind: ClientEnd['kind']): number => ends.filter((end) => end.kind === kind).length;
    for (const end of ends) if (end.kind === 'untyped') say(end.why);
    const twice = [...world.asked.values()].filter((times) => times > 1).length;
    const slowest = Math.max(...again);
    return {
      holds: count('untyped') === 0 && twice === 0 && count('broken') > 0 && slowest <= bounds.againMs,
      line:
        `${kills} kills under ${ends.length} runs: ${count('broken')} broken off, ${count('answered')} answered, ` +
        `${count('refused')} refused, ${count('untyped')} without a type, ${twice} run twice; serving again after ` +
        `${median(again).toFixed(0)} ms, at most ${slowest.toFixed(0)} ms`,
    };
  },
};

/** Asks until the version answers. @returns when it did, milliseconds */
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
