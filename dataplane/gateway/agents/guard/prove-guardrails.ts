import type { CheckClient } from '#checks/client';
import type { RoutedVersion } from '#resources/agent-route';
import type { RouteProof } from '../../routes/follow-proved.ts';
import { unreachedCodes } from '../../routes/follow-routes.ts';
import { guardTarget } from './version-guard.ts';

/** Sends an empty check to the policies of an image, so that its route serves only when they judge. Never throws. */
export async function proveGuardrails(
  checks: Pick<CheckClient, 'probe'>,
  { guardrails }: Pick<RoutedVersion, 'guardrails'>,
  signal: AbortSignal,
): Promise<RouteProof> {
  if (guardrails === undefined) return { ok: true };
  const targets = [guardTarget(guardrails.input, 'request'), guardTarget(guardrails.output, 'response')];
  for (const target of targets) {
    if (target === undefined) continue;
    const probed = await checks.probe(target, { signal });
    if (!probed.ok) return { ok: false, code: probed.code, reached: !unreachedCodes.has(probed.code) };
  }
  return { ok: true };
}
