import { runCutover } from '../scenarios/cutover/run-cutover.ts';
import type { Figure } from '../support/figure.ts';

export const figure: Figure = {
  name: 'cutover',
  title: 'applications under a steady load with streams that outlive five of them',
  coveredBy: 'e2e/scenarios/cutover/cutover.test.ts',
  run: async (size, say) => {
    const report = await runCutover({ applications: size === 'full' ? 50 : 12, gateways: 2, say });
    for (const sentence of [...report.failed, ...report.unguarded, ...report.mixed].slice(0, 20)) say(sentence);
    const faults = report.failed.length + report.unguarded.length + report.mixed.length;
    const line =
      `${report.applications} applications, 2 replicas, ${report.requests} requests, ${report.longStreams} streams ` +
      `that outlived ${report.outlived} applications, ${report.canaries} canaries: ${report.failed.length} failed, ` +
      `${report.unguarded.length} unguarded, ${report.mixed.length} judged by the wrong generation`;
    return { holds: faults === 0 && report.longStreams > 0 && report.canaries > 0, line };
  },
};
