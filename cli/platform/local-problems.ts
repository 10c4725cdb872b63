import { accessSync, constants, statfsSync } from 'node:fs';
import type { DataDirectory } from '#contracts/data-directory';
import { sentence } from '#diagnosis/sentence';
import type { InstallationProblem } from '#diagnosis/surroundings';
import type { PlatformStatus, ProcessStatus } from './status-file.ts';

/** Minimum free space, bytes: with less, the processes cannot write their resources, logs and status. */
const leastFreeBytes = 1_048_576;
const readinessTimeoutMs = 2_000;

/** Each process is listed after the processes that it needs. */
const order: readonly ProcessStatus['kind'][] = [
  'operator',
  'echo',
  'postgres',
  'issuer',
  'management',
  'retrieval',
  'memory',
  'catalogue',
  'gateway',
  'signin',
  'console',
];

/** Problems of a running standalone platform; problems that cause others are first. */
export async function localProblems(data: DataDirectory, status: PlatformStatus): Promise<InstallationProblem[]> {
  const sorted = status.processes.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  return [
    ...storageProblems(data),
    ...sorted.flatMap(processProblem),
    ...(await managementProblems(status)),
    ...dataServiceProblems(status),
  ];
}

/** A data directory without space, or on a read-only file system. */
export function storageProblems(data: DataDirectory): InstallationProblem[] {
  const problem = (reason: string, message: string): InstallationProblem[] => [
    { component: 'storage', part: 'Data directory', reason, message },
  ];
  try {
    const { bavail, bsize } = statfsSync(data.root);
    if (bavail * bsize < leastFreeBytes) {
      return problem('DiskFull', `No space is left on the disk of ${data.root}: nothing can be stored there.`);
    }
    accessSync(data.root, constants.W_OK);
    return [];
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return problem('DiskUnusable', `${data.root} cannot be written (${code}).`);
  }
}

/** Kinds of processes that may start after the platform is ready. */
const startsAtVisit: ReadonlySet<ProcessStatus['kind']> = new Set(['console', 'signin']);

function processProblem({ name, kind, ready, answering, ended }: ProcessStatus): InstallationProblem[] {
  const place = { component: kind, part: `Process ${name}` };
  if (!answering) {
    return [{ ...place, reason: 'ProcessNotAnswering', message: 'It is not answering: requests to it hang.' }];
  }
  if (ready || (startsAtVisit.has(kind) && ended === undefined)) return [];
  if (ended === undefined) return [{ ...place, reason: 'ProcessNotReady', message: 'It is not ready yet.' }];
  return [{ ...place, reason: 'ProcessRestarting', message: sentence(`it ${ended}`) }];
}

function dataServiceProblems({ retrievalOff, memoryOff, catalogueOff }: PlatformStatus): InstallationProblem[] {
  const problems: InstallationProblem[] = [];
  if (retrievalOff !== undefined) {
    const message = sentence(`it is off: ${retrievalOff}`);
    problems.push({ component: 'retrieval', part: 'Retrieval service', reason: 'RetrievalOff', message });
  }
  if (memoryOff !== undefined) {
    const message = sentence(`it is off: ${memoryOff}`);
    problems.push({ component: 'memory', part: 'Memory service', reason: 'MemoryOff', message });
  }
  if (catalogueOff !== undefined) {
    const message = sentence(`it is off: ${catalogueOff}`);
    problems.push({ component: 'catalogue', part: 'Agent catalogue', reason: 'CatalogueOff', message });
  }
  return problems;
}

async function managementProblems({ managementOff, addresses, processes }: PlatformStatus) {
  if (managementOff !== undefined && !managementOff.includes('--no-management')) {
    return [problemOfManagement('ManagementOff', `It is off: ${managementOff}`)];
  }
  const isReady = processes.some(({ kind, ready }) => kind === 'management' && ready);
  if (addresses.managementAdmin === undefined || !isReady) return [];
  const said = await unreadySentence(`${addresses.managementAdmin}/readyz`);
  if (said === undefined) return [];
  const isDatabase = said.includes('database');
  return [problemOfManagement(isDatabase ? 'DatabaseAway' : 'ProcessNotReady', sentence(said))];
}

function problemOfManagement(reason: string, message: string): InstallationProblem {
  return { component: 'management', part: 'Management API', reason, message };
}

/** The first sentence of a readiness endpoint that answers 503. */
async function unreadySentence(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(readinessTimeoutMs) });
    const text = await answer.text();
    return answer.status === 503 ? text.split('\n')[0] : undefined;
  } catch {
    // The supervisor reports a process that does not answer.
    return undefined;
  }
}
