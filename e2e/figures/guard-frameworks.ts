import { compareFrameworks, prepareFrameworks } from '../bench/compare-frameworks.ts';
import type { Figure } from '../support/figure.ts';

export const figure: Figure = {
  name: 'guard-frameworks',
  title:
    'the judgement of a text of 2 KiB by the runtime, and by Presidio, LLM Guard and NeMo Guardrails in process with the same 8 patterns and 1,000 terms; every decision is correct',
  run: async (size, say) => {
    if (size === 'small') return { skipped: 'measured in the full size only: the Python packages have 5 GB' };
    const python = await prepareFrameworks();
    if (!python.ok) return { skipped: python.reason };
    const { figures, wrong } = await compareFrameworks(python.path, 15, say);
    const byFramework = Map.groupBy(figures, ({ framework, version }) => `${framework} ${version}`);
    const times = [...byFramework].map(([name, all]) => {
      const ratios = all.map(({ timesRuntime }) => timesRuntime);
      return `${name} takes ${Math.min(...ratios).toFixed(1)} to ${Math.max(...ratios).toFixed(1)} times as long`;
    });
    return {
      holds: wrong.length === 0,
      line: `${times.join(', ')} as the runtime; wrong decisions: ${wrong.length === 0 ? 'none' : wrong.join(', ')}`,
    };
  },
};
