import type { Command } from 'commander';
import { createLogs } from '../../commands/logs.ts';
import type { ResourceSource } from '../../resources/resource-source.ts';

/** `logs` of a cluster, where the previous run of each container has a separate log. */
export function addPodLogs(program: Command, source: ResourceSource): void {
  createLogs(program, source).option('-p, --previous', 'the log of the previous run of a container that was restarted');
}
