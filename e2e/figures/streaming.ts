import { runStreaming } from '../streaming/run-streaming.ts';
import type { Figure } from '../support/figure.ts';

export const figure: Figure = {
  name: 'streaming',
  title: 'generated streams over real sockets with random cuts of TCP, frames and characters',
  run: async (size, say) => {
    const report = await runStreaming({ streams: size === 'full' ? 10_000 : 1_500, seed: 7, say });
    for (const violation of report.violations.slice(0, 20)) say(violation);
    const line =
      `${report.forbidden} streams with a forbidden phrase (${report.phrases} phrases of ${report.lengths} lengths at ` +
      `${report.offsets} offsets), ${report.clean} clean, ${report.tokens} with cut words, ${report.words} with a forbidden word; ${report.responses} of all are streams of the Responses API, ` +
      `${report.judgedOnRequest} have the text in reasoning or arguments of calls: ` +
      `${report.violations.length} violations, ${report.falseStops} false stops of token terms`;
    return { holds: report.violations.length === 0, line };
  },
};
