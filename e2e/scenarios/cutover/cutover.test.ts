import { expect } from 'vitest';
import { verifies } from '../../support/verifies.ts';
import { runCutover } from './run-cutover.ts';

verifies(
  [
    'guardrail:generation:new-version-new-process',
    'guardrail:versioning:reapply-gives-new-behaviour',
    'guardrail:versioning:reapply-new-generation',
    'guardrail:versioning:wait-for-replicas',
  ],
  'while one revision after another is applied under load on two replicas, no request fails, is unguarded, or is checked by two revisions',
  async () => {
    const report = await runCutover({ applications: 12, gateways: 2, say: () => {} });
    expect(report).toMatchObject({ failed: [], unguarded: [], mixed: [], applications: 12 });
    expect(report.longStreams).toBeGreaterThanOrEqual(2);
    expect(report.canaries).toBeGreaterThan(0);
    expect(report.requests).toBeGreaterThan(50);
  },
);
