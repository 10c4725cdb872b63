import type { Command } from 'commander';
import { type CommandGroup, createProgram, runProgram } from '../base-program.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { clusterSource } from './cluster/cluster-source.ts';

const groups: readonly CommandGroup[] = [
  {
    heading: 'Look:',
    commands: {
      status: async () => (await import('./commands/status.ts')).addInstallationStatus,
      why: async () => (await import('../commands/why.ts')).addWhy,
      logs: async () => (await import('./commands/logs.ts')).addPodLogs,
      activity: async () => (await import('./commands/activity.ts')).addClusterActivity,
    },
  },
  {
    heading: 'Resources:',
    commands: {
      get: async () => (await import('../commands/get.ts')).addGet,
      describe: async () => (await import('../commands/describe.ts')).addDescribe,
      explain: async () => (await import('../commands/explain.ts')).addExplain,
      apply: async () => (await import('../commands/apply.ts')).addApply,
      diff: async () => (await import('../commands/diff.ts')).addDiff,
      edit: async () => (await import('../commands/edit.ts')).addEdit,
      delete: async () => (await import('../commands/delete.ts')).addDelete,
    },
  },
  {
    heading: 'Policies:',
    commands: {
      test: async () => (await import('../commands/test.ts')).addTest,
      check: async () => (await import('../commands/check.ts')).addCheck,
      history: async () => (await import('../commands/history.ts')).addHistory,
      archive: async () => (await import('../commands/archive.ts')).addArchive,
      unarchive: async () => (await import('../commands/archive.ts')).addUnarchive,
    },
  },
  {
    heading: 'Models:',
    commands: {
      'apply-revision': async () => (await import('../commands/apply-revision.ts')).addApplyRevision,
      rollback: async () => (await import('../commands/rollback.ts')).addRollback,
      reapply: async () => (await import('../commands/reapply.ts')).addReapply,
      unbind: async () => (await import('../commands/unbind.ts')).addUnbind,
      provider: async () => (await import('./commands/provider.ts')).addClusterProvider,
    },
  },
  {
    heading: 'Agents:',
    commands: {
      agent: async () => (await import('./commands/agent.ts')).addClusterAgent,
    },
  },
  {
    heading: 'Tools:',
    commands: {
      backup: async () => (await import('./commands/backup.ts')).addBackup,
      restore: async () => (await import('./commands/restore.ts')).addRestore,
    },
  },
];

const text = {
  name: clusterSource.program,
  description: 'Guardrails for models in a cluster: show the status, apply policy revisions and roll them back.',
};

/** @param only name of the only command that will run; without it, all commands are added */
export function createPlugin(only?: string, source: ResourceSource = clusterSource): Promise<Command> {
  return createProgram(text, groups, source, only);
}

/** Runs one command line of the kubectl plugin. @returns the exit code of the process */
export function runPlugin(args: readonly string[]): Promise<number> {
  return runProgram(createPlugin, args, clusterSource);
}
