import { hasProcessTable } from '#kit/testing/process-table';
import { followReadme } from '../newcomer/newcomer.ts';
import type { Figure } from '../support/figure.ts';

const boundSeconds = 40;
const boundMebibytes = 500;
const mebibyte = 1_048_576;

export const figure: Figure = {
  name: 'newcomer',
  title: `README.md followed from a fresh clone with warm caches to the first answers of another model: at most ${boundSeconds} s beside two busy processes, and memory at rest at most ${boundMebibytes} MiB`,
  run: async (size, say) => {
    if (!hasProcessTable) return { skipped: 'memory is measured on Linux' };
    // The time has a bound only under a known load.
    const load = size === 'full' ? 2 : 0;
    const { seconds, faults, memory } = await followReadme(load, say);
    const isQuick = size === 'small' || seconds <= boundSeconds;
    const mebibytes = Math.round(memory / mebibyte);
    const line = `${seconds.toFixed(1)} s beside ${load} busy processes, ${mebibytes} MiB at rest`;
    return {
      holds: isQuick && mebibytes <= boundMebibytes && faults.length === 0,
      line: [line, ...faults].join('\n'),
    };
  },
};
