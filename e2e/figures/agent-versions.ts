import { dockerRuns } from '../../hack/cluster/kind/docker.ts';
import { silentProgress } from '../../hack/cluster/machine/progress.ts';
import { missingForNode } from '../../hack/cluster/whole/missing-for-node.ts';
import { runPretended } from '../agent-versions/run-pretended.ts';
import { missingApiServer } from '../kube/open-api-server.ts';
import { runOnNode } from '../services-cluster/run-on-node.ts';
import type { Figure } from '../support/figure.ts';

/** Longest time from kubectl to Ready, seconds. */
const bounds = { one: 6, twenty: 60 } as const;
const sizes = { full: 100, small: 20 } as const;

export const figure: Figure = {
  name: 'agent-versions',
  title: 'kubectl apply of AgentVersions to Ready: one in 6 s and 20 in 60 s on a node, 100 with simulated pods',
  run: async (size, say) => {
    if (missingApiServer !== undefined) return { skipped: missingApiServer };
    const pretended = await runPretended(sizes[size]);
    const line =
      `${pretended.versions} with simulated pods in ${pretended.seconds.toFixed(1)} s, ` +
      `${pretended.writesOfEach.toFixed(1)} writes of each, ${pretended.writesAtRest} at rest`;
    const isQuiet = pretended.writesAtRest === 0;
    // The suite of a whole cluster applies a version on a node.
    if (size === 'small') return { holds: isQuiet, line };
    say(line);
    const missing = (await dockerRuns()) ? undefined : await missingForNode(silentProgress);
    if (missing !== undefined) return { skipped: missing };
    const { one, twenty, phases } = await runOnNode(say);
    for (const phase of phases) say(phase);
    return {
      holds: isQuiet && Math.max(...one) <= bounds.one && twenty <= bounds.twenty,
      line: `one in ${one.map((seconds) => seconds.toFixed(1)).join(', ')} s, 20 at once in ${twenty.toFixed(1)} s; ${line}`,
    };
  },
};
