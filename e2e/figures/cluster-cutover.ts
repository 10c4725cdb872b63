import { dockerRuns } from '../../hack/cluster/kind/docker.ts';
import { silentProgress } from '../../hack/cluster/machine/progress.ts';
import { missingForNode } from '../../hack/cluster/whole/missing-for-node.ts';
import { runClusterCutover } from '../scenarios/cluster-cutover/run-cluster-cutover.ts';
import { outlived } from '../scenarios/cutover/judged-traffic.ts';
import type { Figure } from '../support/figure.ts';

export const figure: Figure = {
  name: 'cluster-cutover',
  title: 'applications on a whole cluster under a steady load with streams that outlive five of them',
  run: async (size, say) => {
    const missing = (await dockerRuns()) ? undefined : await missingForNode(silentProgress);
    if (missing !== undefined) return { skipped: missing };
    const report = await runClusterCutover({ applications: size === 'full' ? 100 : 8, say });
    const { failed, unguarded, mixed, restarts, longStreams, canaries } = report;
    for (const sentence of report.samples) say(sentence);
    const line =
      `${report.applications} applications in ${report.seconds.toFixed(0)} s, 2 replicas, ${report.requests} requests, ` +
      `${longStreams} streams that outlived ${outlived} applications, ${canaries} canaries: ${failed} failed, ` +
      `${unguarded} unguarded, ${mixed} judged by the wrong generation, ${restarts} restarts of containers`;
    return { holds: failed + unguarded + mixed + restarts === 0 && longStreams > 0 && canaries > 0, line };
  },
};
