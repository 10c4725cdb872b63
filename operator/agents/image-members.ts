import type { SdkBundle } from '#contracts/sdk-bundle';
import type { ServedTarget } from '#contracts/served-target';
import type { RoutedVersion, RouteGuardrail } from '#resources/agent-route';

type ImageMembers = { readonly [Member in 'guardrails' | 'sdk']: NonNullable<RoutedVersion[Member]> };

/**
 * The members of the route of an image: how the gateway judges its texts, which it does not check itself, and how its card or
 * tool is published.
 * @returns undefined while a policy that it names is not served in the named revision, so that the version is not routed
 */
export function imageMembers(
  { guardrails, publicUrl, tool }: SdkBundle,
  servedTarget: (policy: string) => ServedTarget | undefined,
): ImageMembers | undefined {
  const input = guardrailOf(guardrails.input, servedTarget);
  const output = guardrailOf(guardrails.output, servedTarget);
  if (input === undefined || output === undefined) return undefined;
  return { guardrails: { input, output }, sdk: { publicUrl, ...(tool === undefined ? {} : { tool }) } };
}

function guardrailOf(
  guardrail: SdkBundle['guardrails']['input'],
  servedTarget: (policy: string) => ServedTarget | undefined,
): RouteGuardrail | undefined {
  if (guardrail === 'None') return { mode: 'None' };
  const target = servedTarget(guardrail.name);
  if (target === undefined || target.policyRevision !== String(guardrail.revision)) return undefined;
  const { policyId, policyRevision, bundleDigest: digest, contentProfile, streaming, division } = target;
  const { addresses, maxBodyBytes, maxMessages, deadlineMs } = target;
  return {
    mode: 'Policy',
    policyId,
    policyRevision,
    digest,
    contentProfile,
    streaming: streaming?.allowed === true ? 'Windows' : 'Whole',
    division: division.allowed ? 'Pieces' : 'Whole',
    addresses: [...addresses],
    maxBodyBytes,
    maxMessages,
    deadlineMs: { ...deadlineMs },
  };
}
