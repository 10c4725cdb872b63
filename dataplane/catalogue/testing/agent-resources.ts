import { createHash, randomUUID } from 'node:crypto';
import type { Agent } from '#resources/agent';
import { type AgentRoute, agentRouteFormat } from '#resources/agent-route';
import type { AgentVersion } from '#resources/agent-version';
import { apiVersion } from '#resources/kinds';
import type { Condition } from '#resources/metadata';

/** The fields of an agent that a test sets; the other fields have the values of an agent that accepts calls. */
export type AgentSketch = {
  readonly name: string;
  readonly agentId: string;
  readonly versionId: string;
  readonly title: string;
  readonly description: string;
  readonly workspace: string;
  readonly owner: { readonly issuer: string; readonly subject: string };
  readonly modes: readonly ('a2a_agent' | 'mcp_tool')[];
  readonly skills: readonly { readonly id: string; readonly name: string; readonly description: string }[];
  readonly exposure: 'R1' | 'R2';
  readonly publicUrl: string;
  /** Whether the gateways have confirmed a version. */
  readonly isServed: boolean;
  readonly isReady: boolean;
  /** The reason of a version that is not ready. */
  readonly unreadyReason: string;
  readonly isRouted: boolean;
  readonly isConsistent: boolean;
  readonly cardReason: string;
  /** The time of the last change of the conditions. */
  readonly since: Date;
};

/** An agent `name` that is served over A2A in the workspace `support`. */
export function sketchAgent(name: string, change: Partial<AgentSketch> = {}): AgentSketch {
  const text = change.title ?? `Agent ${name}`;
  return {
    name,
    agentId: uuidOf(name),
    versionId: randomUUID(),
    title: text,
    description: `Answers questions about ${name}.`,
    workspace: 'support',
    owner: { issuer: 'https://people.example', subject: 'olga' },
    modes: ['a2a_agent'],
    skills: [{ id: 'answer', name: text, description: `Answers about ${name}.` }],
    exposure: 'R2',
    publicUrl: 'https://agents.example',
    isServed: true,
    isReady: true,
    unreadyReason: 'NotYet',
    isRouted: true,
    isConsistent: true,
    cardReason: 'Verified',
    since: new Date(),
    ...change,
  };
}

/** A UUID that follows from a name. */
export function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
}

type Written<R extends { readonly metadata: unknown }> = Omit<R, 'metadata'> & {
  readonly metadata: { readonly name: string; readonly uid?: string };
};

/** The resources of an agent as the operator leaves them. */
export function resourcesOf(sketch: AgentSketch): {
  readonly agent: Written<Agent>;
  readonly version: Written<AgentVersion>;
  readonly route: Written<AgentRoute>;
} {
  const { name, agentId, versionId, publicUrl } = sketch;
  const versionName = `${name}-1`;
  const condition = (type: string, isTrue: boolean, reason = isTrue ? type : sketch.unreadyReason): Condition => ({
    type,
    status: isTrue ? 'True' : 'False',
    observedGeneration: 1,
    lastTransitionTime: sketch.since.toISOString(),
    reason,
    message: 'A private sentence.',
  });
  const isVerified = sketch.cardReason === 'Verified' || sketch.cardReason === 'NoCard';
  return {
    agent: {
      apiVersion,
      kind: 'Agent',
      metadata: { name },
      spec: {
        version: versionName,
        owner: sketch.owner,
        workspace: sketch.workspace,
        access: { view: [], invoke: [] },
      },
      status: {
        agentId,
        url: `${publicUrl}/agents/${agentId}`,
        conditions: [condition('RouteAccepted', sketch.isRouted), condition('AccessConsistent', sketch.isConsistent)],
        ...(sketch.isServed ? { served: { version: versionName, versionId } } : {}),
      },
    },
    version: {
      apiVersion,
      kind: 'AgentVersion',
      metadata: { name: versionName, uid: versionId },
      spec: {
        agent: name,
        lowCode: { flow: 'name: flow', manifest: manifestText(sketch), tests: 'tests: []' },
        guardrails: { input: { mode: 'None' }, output: { mode: 'None' } },
        requires: [],
      },
      status: {
        agentId,
        versionId,
        address: 'http://10.0.0.7:8080',
        conditions: [condition('Ready', sketch.isReady), condition('CardVerified', isVerified, sketch.cardReason)],
      },
    },
    route: { apiVersion, kind: 'AgentRoute', metadata: { name }, spec: routeOf(sketch, versionName) },
  };
}

function routeOf(sketch: AgentSketch, version: string): AgentRoute['spec'] {
  const { agentId, versionId, modes, name } = sketch;
  const digest = createHash('sha256').update(name).digest('hex');
  return {
    formatVersion: agentRouteFormat,
    agentId,
    agent: { name, uid: agentId },
    served: versionId,
    versions: [
      {
        versionId,
        version,
        modes: modes.map((mode) => (mode === 'a2a_agent' ? 'A2A' : 'MCP')),
        address: 'http://10.0.0.7:8080',
        cardDigest: digest,
        requires: [],
        limits: {
          requestBytes: 16_384,
          timeoutMs: 20_000,
          concurrency: 4,
          budget: { nodes: 10, modelTokens: 1_000, outputBytes: 10_000 },
        },
      },
    ],
    cards: 'View',
    exposure: sketch.exposure,
  };
}

function manifestText({ title, description, modes, skills, name }: AgentSketch): string {
  return JSON.stringify({
    apiVersion: 'platform.low-code.publish-manifest/v2',
    agent: { name, title, description },
    flow: { sha256: createHash('sha256').update(name).digest('hex'), entrypoint: 'main' },
    executionModes: modes,
    contract: {
      inputSchema: { type: 'object' },
      outputSchema: { type: 'object' },
      inputMediaModes: ['text/plain'],
      outputMediaModes: ['text/plain'],
    },
    a2a: { skills: skills.map((skill) => ({ ...skill, tags: ['example'] })) },
    ...(modes.includes('mcp_tool') ? { mcp: { toolName: 'answer', title, description } } : {}),
    guardrails: { input: 'None', output: 'None' },
  });
}
