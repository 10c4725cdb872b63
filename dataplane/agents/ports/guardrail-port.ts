import type { CheckClient } from '#checks/client';
import { PortError } from '#flow/engine/flow-error';
import type { FlowPorts } from '#flow/engine/ports';
import type { PolicyTargets } from '../steps/policy-targets.ts';

/** The port for guardrail nodes: judges a text by a policy that the version names. */
export function createGuardrailPort(checks: CheckClient, policies: PolicyTargets): FlowPorts['guardrail'] {
  return async ({ policy, stage, text }, { signal }) => {
    const target = policies.target(policy, stage);
    if (target === undefined) throw new PortError('refused');
    const role = stage === 'request' ? 'user' : 'assistant';
    const outcome = await checks.check(target, stage, [{ role, content: text }], { signal });
    switch (outcome.kind) {
      case 'pass':
        return { decision: 'pass', text };
      case 'mask':
        return { decision: 'mask', text: outcome.contents[0] ?? '' };
      case 'deny':
        return { decision: 'deny' };
      case 'failed':
        signal.throwIfAborted();
        throw new PortError('unavailable');
    }
  };
}
