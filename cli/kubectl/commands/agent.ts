import type { Command } from 'commander';
import { addAgentChanges } from '../../commands/agent-changes.ts';
import type { ResourceSource } from '../../resources/resource-source.ts';

/** `agent` of a cluster: the commands that talk to an agent call the platform of this machine. */
export function addClusterAgent(program: Command, source: ResourceSource): void {
  addAgentChanges(program.command('agent').description('choose the version that an agent serves'), source);
}
