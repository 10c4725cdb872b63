import { row, tableLines } from './bar-chart.ts';
import type { FrameworkReport } from './compare-frameworks.ts';

/** The section of the report about other frameworks. @param report undefined if the machine has not got their packages */
export function frameworkLines(report: FrameworkReport | undefined): readonly string[] {
  return [
    '## Beside Presidio, LLM Guard and NeMo Guardrails',
    '',
    'The judgement of a text of 2 KiB with the same 8 patterns and 1,000 terms, in turns: by the runtime without HTTP, and by',
    'each framework in one Python process: Presidio with a recognizer for each rule and spaCy without a model, LLM Guard with',
    '`BanSubstrings` and `Regex`, NeMo Guardrails with its rail of regular expressions. Microseconds, medians.',
    '',
    ...(report === undefined
      ? ['Not measured: the packages were not installed when this page was written.', '']
      : tableLines(
          ['framework', 'text', 'framework, us', 'runtime, us', 'times the runtime'],
          report.figures.map(({ framework, version, text, microseconds, timesRuntime }) =>
            row(
              `${framework} ${version}`,
              text,
              microseconds.framework.toFixed(0),
              microseconds.runtime.toFixed(0),
              timesRuntime.toFixed(1),
            ),
          ),
        )),
    ...(report === undefined || report.wrong.length === 0 ? [] : [`Wrong decisions: ${report.wrong.join(', ')}.`, '']),
  ];
}
