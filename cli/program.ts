import type { Command } from 'commander';
import { type CommandGroup, createProgram, runProgram } from './base-program.ts';
import { addActivity } from './commands/activity.ts';
import { addAdmin } from './commands/admin.ts';
import { addAgent } from './commands/agent.ts';
import { addApply } from './commands/apply.ts';
import { addApplyRevision } from './commands/apply-revision.ts';
import { addArchive, addUnarchive } from './commands/archive.ts';
import { addAudit } from './commands/audit.ts';
import { addBundleBuild } from './commands/bundle-build.ts';
import { addCatalogueAgents } from './commands/catalogue-agents.ts';
import { addChat } from './commands/chat.ts';
import { addCheck } from './commands/check.ts';
import { addCollection } from './commands/collection.ts';
import { addCompletion } from './commands/completion.ts';
import { addConsole } from './commands/console.ts';
import { addDelete } from './commands/delete.ts';
import { addDescribe } from './commands/describe.ts';
import { addDiff } from './commands/diff.ts';
import { addDocuments } from './commands/documents.ts';
import { addEdit } from './commands/edit.ts';
import { addEnv } from './commands/env.ts';
import { addEval } from './commands/eval.ts';
import { addExplain } from './commands/explain.ts';
import { addFlow } from './commands/flow.ts';
import { addGet } from './commands/get.ts';
import { addGroup } from './commands/group.ts';
import { addHistory } from './commands/history.ts';
import { addJobs } from './commands/jobs.ts';
import { addLogs } from './commands/logs.ts';
import { addMemory } from './commands/memory.ts';
import { addOperation } from './commands/operation.ts';
import { addPack } from './commands/pack.ts';
import { addProvider } from './commands/provider.ts';
import { addQuery } from './commands/query.ts';
import { addReapply } from './commands/reapply.ts';
import { addRollback } from './commands/rollback.ts';
import { addRuntime } from './commands/runtime.ts';
import { addPlatformStatus } from './commands/status.ts';
import { addTest } from './commands/test.ts';
import { addToken } from './commands/token.ts';
import { addUnbind } from './commands/unbind.ts';
import { addPlatformUp } from './commands/up.ts';
import { addWhy } from './commands/why.ts';
import { standaloneSource } from './standalone-source.ts';

const groups: readonly CommandGroup[] = [
  {
    heading: 'Start and look:',
    commands: [addPlatformUp, addPlatformStatus, addWhy, addLogs, addActivity, addChat, addEnv, addToken, addConsole],
  },
  { heading: 'Resources:', commands: [addGet, addDescribe, addExplain, addApply, addDiff, addEdit, addDelete] },
  { heading: 'Policies:', commands: [addTest, addCheck, addHistory, addArchive, addUnarchive] },
  { heading: 'Models:', commands: [addApplyRevision, addRollback, addReapply, addUnbind, addProvider] },
  { heading: 'Documents:', commands: [addCollection, addGroup, addDocuments, addQuery, addPack, addEval, addJobs] },
  { heading: 'Memories:', commands: [addMemory] },
  { heading: 'Agents:', commands: [addCatalogueAgents, addAgent, addFlow] },
  { heading: 'Tools:', commands: [addOperation, addAudit, addAdmin, addBundleBuild, addRuntime, addCompletion] },
];

const text = {
  name: standaloneSource.program,
  description: 'Guardrails for models: start the platform, apply policies, send messages to guarded models.',
};

export function createCommandLine(): Command {
  return createProgram(text, groups, standaloneSource);
}

/** Runs one command line of the standalone platform. @returns the exit code of the process */
export function runCommandLine(args: readonly string[]): Promise<number> {
  return runProgram(createCommandLine, args, standaloneSource);
}
