import type { PublishManifest } from '#flow/definition/manifest-schema';

/** The capability registry: every capability that this program implements and that its startup check can confirm. */
const implementedCapabilities = ['a2a.message', 'a2a.streaming', 'mcp.tool', 'files'] as const;
export type Capability = (typeof implementedCapabilities)[number];
/** A capability of manifests that no version of this program implements (`agents:manifest:tasks-true`). */
type Reserved = 'a2a.tasks';

/** The capabilities that a manifest requests (`agents:card:built-from`). */
export function requestedCapabilities({ executionModes, contract, files }: PublishManifest): {
  readonly implemented: readonly Capability[];
  /**
   * Capabilities that the manifest requests and this process cannot provide: each one blocks readiness
   * (`agents:card:unimplemented-readiness`).
   */
  readonly unavailable: readonly (Capability | Reserved)[];
} {
  const isA2a = executionModes.includes('a2a_agent');
  const { streaming } = contract.capabilities;
  return {
    implemented: [
      ...(isA2a ? (['a2a.message'] as const) : []),
      ...(isA2a && streaming ? (['a2a.streaming'] as const) : []),
      ...(executionModes.includes('mcp_tool') ? (['mcp.tool'] as const) : []),
      ...(files.enabled ? (['files'] as const) : []),
    ],
    unavailable: [
      // Streaming is a mode of A2A alone (`agents:streaming:execution-mode`).
      ...(streaming && !isA2a ? (['a2a.streaming'] as const) : []),
      ...(contract.tasks ? (['a2a.tasks'] as const) : []),
    ],
  };
}
