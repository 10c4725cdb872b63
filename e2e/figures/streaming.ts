import { runStreaming } from '../streaming/run-streaming.ts';
import type { Figure } from '../support/figure.ts';

export const figure: Figure = {
  name: 'streaming',
  title: 'streamed answers cut anywhere: no byte of a forbidden phrase leaves, clean streams arrive byte for byte',
  run: async (size, say) => {
    const report = await runStreaming({ streams: size === 'full' ? 25_000 : 600, seed: 1, say });
    for (const sentence of report.violations.slice(0, 20)) say(sentence);
    const line =
      `${report.forbidden} streams with one of ${report.phrases} phrases of ${report.lengths} lengths at ` +
      `${report.offsets} offsets and ${report.clean} clean ones: ${report.violations.length} violations; ` +
      `${report.falseStops} of ${report.tokens} clean streams stopped by a short token where a cut made one`;
    return { holds: report.violations.length === 0, line };
  },
};
