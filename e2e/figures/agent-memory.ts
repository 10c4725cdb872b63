import { childrenOf, hasProcessTable, processMemory } from '#kit/testing/process-table';
import type { Agent } from '#resources/agent';
import { kinds } from '#resources/kinds';
import { followRun } from '../agent-kills/follow-run.ts';
import type { Figure } from '../support/figure.ts';
import { startPlatform } from '../support/start-platform.ts';

const mebibyte = 1_048_576;
const bound = 70;
const sizes = { small: { seconds: 5, runs: 20 }, full: { seconds: 30, runs: 200 } } as const;

export const figure: Figure = {
  name: 'agent-memory',
  title: `the process of an agent in a standalone platform has at most ${bound} MiB of proportional memory at rest`,
  async run(size, say) {
    if (!hasProcessTable) return { skipped: 'this system does not list its processes in /proc' };
    const { seconds, runs } = sizes[size];
    // The first start of a version of the sources compiles them, which takes memory that later starts do not take.
    await (await startPlatform({ agents: true }))[Symbol.asyncDispose]();
    await using platform = await startPlatform({ agents: true });
    const operator = platform.status().processes.find(({ name }) => name === 'operator')?.pid ?? 0;
    const agent = await platform.client.get<Agent>(kinds.agent, 'assistant');
    const address = `${platform.status().addresses.gateway}/agents/${agent?.status?.agentId}`;
    const atRest = async (): Promise<number> => {
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
      const { proportional, resident } = processMemory(childrenOf(operator, 'portcullis-agent')[0] ?? 0);
      say(`${(proportional / mebibyte).toFixed(1)} MiB proportional, ${(resident / mebibyte).toFixed(1)} MiB resident`);
      return proportional / mebibyte;
    };
    const before = await atRest();
    for (let at = 0; at < runs; at += 1) {
      const end = await followRun(address, `question ${at}`, 'send');
      if (end.kind !== 'answered') throw new Error(`a run ended ${JSON.stringify(end)}`);
    }
    const after = await atRest();
    return {
      holds: before <= bound,
      line: `${before.toFixed(1)} MiB before the first run, at most ${bound}; ${after.toFixed(1)} MiB after ${runs} runs`,
    };
  },
};
