import type { AgentLifecycle, AgentProtocol, AgentSkill, ImplementationType } from '#contracts/catalogue';

/** The stored content of one agent. The member names are the column names. */
export type AgentContent = {
  readonly agent_id: string;
  /** Name of the Agent. */
  readonly resource: string;
  readonly name: string;
  readonly description: string;
  readonly workspace: string;
  readonly owner_issuer: string;
  readonly owner_subject: string;
  readonly state: AgentLifecycle;
  readonly protocol: AgentProtocol;
  readonly implementation_type: ImplementationType;
  readonly version_id: string | null;
  readonly skills: readonly AgentSkill[];
  /** Address of the agent at the gateway, without a version. */
  readonly url: string | null;
  readonly is_ready: boolean;
  readonly is_consistent: boolean;
  readonly is_routed: boolean;
  readonly exposure: 'R1' | 'R2';
  /** Whether several resources claim the id, so that none of them is shown. */
  readonly is_contested: boolean;
};

/** An agent as it is read for an answer. */
export type ReadAgent = AgentContent & {
  /** Whether the feed followed the resources of the agents until shortly before the read. */
  readonly is_current: boolean;
};
