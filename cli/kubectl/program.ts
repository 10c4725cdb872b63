import type { Command } from 'commander';
import { type CommandGroup, createProgram, runProgram } from '../base-program.ts';
import { addApply } from '../commands/apply.ts';
import { addApplyRevision } from '../commands/apply-revision.ts';
import { addArchive, addUnarchive } from '../commands/archive.ts';
import { addDelete } from '../commands/delete.ts';
import { addDescribe } from '../commands/describe.ts';
import { addDiff } from '../commands/diff.ts';
import { addEdit } from '../commands/edit.ts';
import { addExplain } from '../commands/explain.ts';
import { addGet } from '../commands/get.ts';
import { addHistory } from '../commands/history.ts';
import { addLogs } from '../commands/logs.ts';
import { addReapply } from '../commands/reapply.ts';
import { addRollback } from '../commands/rollback.ts';
import { addTest } from '../commands/test.ts';
import { addUnbind } from '../commands/unbind.ts';
import { addWhy } from '../commands/why.ts';
import { clusterSource } from './cluster/cluster-source.ts';
import { addClusterActivity } from './commands/activity.ts';
import { addBackup } from './commands/backup.ts';
import { addClusterProvider } from './commands/provider.ts';
import { addRestore } from './commands/restore.ts';
import { addInstallationStatus } from './commands/status.ts';

const groups: readonly CommandGroup[] = [
  { heading: 'Look:', commands: [addInstallationStatus, addWhy, addLogs, addClusterActivity] },
  { heading: 'Resources:', commands: [addGet, addDescribe, addExplain, addApply, addDiff, addEdit, addDelete] },
  { heading: 'Policies:', commands: [addTest, addHistory, addArchive, addUnarchive] },
  { heading: 'Models:', commands: [addApplyRevision, addRollback, addReapply, addUnbind, addClusterProvider] },
  { heading: 'Tools:', commands: [addBackup, addRestore] },
];

const text = {
  name: clusterSource.program,
  description: 'Guardrails for models in a cluster: show the status, apply policy revisions and roll them back.',
};

export function createPlugin(): Command {
  return createProgram(text, groups, clusterSource);
}

/** Runs one command line of the kubectl plugin. @returns the exit code of the process */
export function runPlugin(args: readonly string[]): Promise<number> {
  return runProgram(createPlugin, args, clusterSource);
}
