import { runSoak } from '../soak/run-soak.ts';
import type { Figure } from '../support/figure.ts';

const sizes = {
  small: { warmUpSeconds: 8, seconds: 20, lookEverySeconds: 1.5, fillHistory: false },
  full: { warmUpSeconds: 30, seconds: 180, lookEverySeconds: 6, fillHistory: true },
} as const;

export const figure: Figure = {
  name: 'soak',
  title: 'memory and connections of operator, gateway and runtime do not grow under steady edits and traffic',
  run: async (size, say) => {
    const report = await runSoak({ ...sizes[size], say });
    for (const fault of report.faults) say(fault);
    const most = report.growth
      .filter(({ measure }) => measure === 'live')
      .map((one) => {
        return `${one.process} ${(one.grown / 2 ** 20).toFixed(1)}`;
      });
    return {
      holds: report.faults.length === 0,
      line:
        `${sizes[size].seconds} s, ${report.edits} edits with ${report.applications} applications, ` +
        `${report.requests} requests, ${report.failed} failed; live memory grew by MiB: ${most.join(', ')}; ` +
        `${report.watches.ended} watches ended of at most ${report.watches.bound}; ` +
        `${report.faults.length === 0 ? 'nothing grows' : report.faults.join('; ')}`,
    };
  },
};
