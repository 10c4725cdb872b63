import { childSpan, type TraceContext } from '#kit/http/trace-context';
import type { Spans } from '#kit/trace/span';
import type { CheckClient } from './client.ts';

/** The check client of one request: each check is a span below `parent`, and the runtime continues it. */
export function traceChecks(
  checks: Pick<CheckClient, 'check'>,
  spans: Spans,
  parent: TraceContext,
): Pick<CheckClient, 'check'> {
  return {
    async check(target, stage, messages, options) {
      const trace = childSpan(parent);
      const end = spans.begin(trace, { name: 'call guardrail', kind: 'client' });
      const outcome = await checks.check(target, stage, messages, { ...options, trace });
      const attributes = {
        'portcullis.call.target': target.policyId,
        'portcullis.check.stage': stage,
        'portcullis.code': outcome.kind,
      };
      end({ attributes, failed: outcome.kind === 'failed' });
      return outcome;
    },
  };
}
