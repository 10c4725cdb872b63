import { hasProcessTable } from '#kit/testing/process-table';
import { missingApiServer } from '../kube/open-api-server.ts';
import { runScale } from '../scale/run-scale.ts';
import type { Figure } from '../support/figure.ts';

export const figure: Figure = {
  name: 'scale',
  title: '10,000 bindings over 100 policies, two gateways and successive operators on a real API server',
  run: async (size, say) => {
    if (missingApiServer !== undefined) return { skipped: missingApiServer };
    if (!hasProcessTable) return { skipped: 'what processes take is read from /proc' };
    const figures = await runScale(size, say);
    // A small run shows that everything is measured and nothing is written twice; time bounds apply to the full size
    // only.
    const missed = figures.filter(({ holds, isOfSize }) => !holds && (size === 'full' || !isOfSize));
    const line = figures.map(({ what, value }) => `${what} ${value}`).join('; ');
    return { holds: missed.length === 0, line };
  },
};
