import { missingPostgres } from '#sql/testing/test-server';
import { openBusyWorld } from '../management/open-busy-world.ts';
import { prepareSchemathesis, runSchemathesis } from '../schemathesis/run-schemathesis.ts';
import type { Figure } from '../support/figure.ts';

const examples = { full: 40, small: 5 } as const;

export const figure: Figure = {
  name: 'schemathesis',
  title: 'the policy management API against its served document, by schemathesis with all checks',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const python = await prepareSchemathesis();
    if (!python.ok) return { skipped: python.reason };
    await using world = await openBusyWorld({ replicas: 1 });
    const { id } = await world.act.createPolicy('seen-from-outside');
    const modelId = await world.act.createModel('seen-from-outside');
    const applied = await world.act.applied(modelId, id, 1);
    const report = await runSchemathesis(python.path, {
      document: `${world.api.replicas[0]?.url}/api/v1/guardrail-management/openapi.json`,
      headers: { Authorization: `Bearer ${await world.api.mint()}` },
      configFile: 'management.toml',
      known: { 'path.policyId': id, 'path.modelId': modelId, 'path.operationId': applied.json.operationId },
      examples: examples[size],
    });
    if (report.code !== 0) say(report.output);
    const line = `${report.cases} generated cases, ${report.failures} failures`;
    return { holds: report.code === 0 && report.cases > 0, line };
  },
};
