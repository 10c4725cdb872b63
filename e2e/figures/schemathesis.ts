import { fileURLToPath } from 'node:url';
import { missingPostgres } from '#sql/testing/test-server';
import { runSchemathesis } from '../management/schemathesis/run-schemathesis.ts';
import type { Figure } from '../support/figure.ts';
import { preparePython } from '../support/python.ts';

const requirements = fileURLToPath(new URL('../management/schemathesis/requirements.txt', import.meta.url));
const examples = { full: 40, small: 5 } as const;

export const figure: Figure = {
  name: 'schemathesis',
  title: 'the policy management API against its served document, by schemathesis with all checks',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const python = await preparePython(requirements);
    if (!python.ok) return { skipped: python.reason };
    const report = await runSchemathesis({ python: python.path, examples: examples[size] });
    if (report.code !== 0) say(report.output);
    const line = `${report.cases} generated cases, ${report.failures} failures`;
    return { holds: report.code === 0 && report.cases > 0, line };
  },
};
