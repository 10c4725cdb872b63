import type { Command } from 'commander';
import { type CommandGroup, createProgram, runProgram } from './base-program.ts';
import type { ResourceSource } from './resources/resource-source.ts';
import { standaloneSource } from './standalone-source.ts';

const groups: readonly CommandGroup[] = [
  {
    heading: 'Start and look:',
    commands: {
      up: async () => (await import('./commands/up.ts')).addPlatformUp,
      status: async () => (await import('./commands/status.ts')).addPlatformStatus,
      why: async () => (await import('./commands/why.ts')).addWhy,
      logs: async () => (await import('./commands/logs.ts')).addLogs,
      activity: async () => (await import('./commands/activity.ts')).addActivity,
      chat: async () => (await import('./commands/chat.ts')).addChat,
      env: async () => (await import('./commands/env.ts')).addEnv,
      token: async () => (await import('./commands/token.ts')).addToken,
      console: async () => (await import('./commands/console.ts')).addConsole,
    },
  },
  {
    heading: 'Resources:',
    commands: {
      get: async () => (await import('./commands/get.ts')).addGet,
      describe: async () => (await import('./commands/describe.ts')).addDescribe,
      explain: async () => (await import('./commands/explain.ts')).addExplain,
      apply: async () => (await import('./commands/apply.ts')).addApply,
      diff: async () => (await import('./commands/diff.ts')).addDiff,
      edit: async () => (await import('./commands/edit.ts')).addEdit,
      delete: async () => (await import('./commands/delete.ts')).addDelete,
    },
  },
  {
    heading: 'Policies:',
    commands: {
      test: async () => (await import('./commands/test.ts')).addTest,
      check: async () => (await import('./commands/check.ts')).addCheck,
      history: async () => (await import('./commands/history.ts')).addHistory,
      archive: async () => (await import('./commands/archive.ts')).addArchive,
      unarchive: async () => (await import('./commands/archive.ts')).addUnarchive,
      'purge-revision': async () => (await import('./commands/purge-revision.ts')).addPurgeRevision,
    },
  },
  {
    heading: 'Models:',
    commands: {
      'apply-revision': async () => (await import('./commands/apply-revision.ts')).addApplyRevision,
      rollback: async () => (await import('./commands/rollback.ts')).addRollback,
      reapply: async () => (await import('./commands/reapply.ts')).addReapply,
      unbind: async () => (await import('./commands/unbind.ts')).addUnbind,
      provider: async () => (await import('./commands/provider.ts')).addProvider,
    },
  },
  {
    heading: 'Documents:',
    commands: {
      collection: async () => (await import('./commands/collection.ts')).addCollection,
      group: async () => (await import('./commands/group.ts')).addGroup,
      documents: async () => (await import('./commands/documents.ts')).addDocuments,
      query: async () => (await import('./commands/query.ts')).addQuery,
      pack: async () => (await import('./commands/pack.ts')).addPack,
      eval: async () => (await import('./commands/eval.ts')).addEval,
      jobs: async () => (await import('./commands/jobs.ts')).addJobs,
    },
  },
  {
    heading: 'Memories:',
    commands: {
      memory: async () => (await import('./commands/memory.ts')).addMemory,
    },
  },
  {
    heading: 'Agents:',
    commands: {
      agents: async () => (await import('./commands/catalogue-agents.ts')).addCatalogueAgents,
      agent: async () => (await import('./commands/agent.ts')).addAgent,
      flow: async () => (await import('./commands/flow.ts')).addFlow,
    },
  },
  {
    heading: 'Tools:',
    commands: {
      operation: async () => (await import('./commands/operation.ts')).addOperation,
      audit: async () => (await import('./commands/audit.ts')).addAudit,
      approval: async () => (await import('./commands/approval.ts')).addApproval,
      freeze: async () => (await import('./commands/freeze.ts')).addFreeze,
      admin: async () => (await import('./commands/admin.ts')).addAdmin,
      bundle: async () => (await import('./commands/bundle-build.ts')).addBundleBuild,
      runtime: async () => (await import('./commands/runtime.ts')).addRuntime,
      completion: async () => (await import('./commands/completion.ts')).addCompletion,
    },
  },
];

const text = {
  name: standaloneSource.program,
  description: 'Guardrails for models: start the platform, apply policies, send messages to guarded models.',
};

/** @param only name of the only command that will run; without it, all commands are added */
export function createCommandLine(only?: string, source: ResourceSource = standaloneSource): Promise<Command> {
  return createProgram(text, groups, source, only);
}

/** Runs one command line of the standalone platform. @returns the exit code of the process */
export function runCommandLine(args: readonly string[]): Promise<number> {
  return runProgram(createCommandLine, args, standaloneSource);
}
