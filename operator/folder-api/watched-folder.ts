import { mkdirSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomic } from '#kit/files/write-atomic';
import type { Logger } from '#kit/log/logger';
import { createBackoff } from '#kit/time/backoff';
import type { Clock } from '#kit/time/clock';
import { applyManifest } from '#kube/apply/apply-manifest';
import { type Manifest, type ManifestProblem, manifestKey } from '#kube/apply/read-manifests';
import type { KubeClient } from '#kube/client/client';
import { isKubeError, type KubeError } from '#kube/client/kube-error';
import { watchDirectory } from './watch-directory.ts';
import { type FileContent, lookAtFile } from './watched-file.ts';

const problemsFile = '.problems.json';
const defaultSettleMs = 300;

type FolderProblem = ManifestProblem & { readonly file: string };

/** Report of a folder. `waiting`: retried, because the cause may be temporary. */
export type FolderReport = {
  readonly files: readonly { readonly file: string; readonly state: FileState }[];
  readonly problems: readonly FolderProblem[];
};
type FileState = 'applied' | 'refused' | 'waiting';

type WatchedFolderOptions = {
  /** The watched folder, which is created if it is missing. */
  readonly directory: string;
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly settleMs?: number;
};

type WatchedFolder = AsyncDisposable & { report(): FolderReport };

type KnownFile = {
  readonly stamp: string;
  readonly content: FileContent;
  state: FileState;
  problems: readonly ManifestProblem[];
  /** Whether another file names one of the resources of this file. */
  clashes: boolean;
};

/**
 * Applies the YAML and JSON files of a folder like `kubectl apply`: each document whose hash differs from that with
 * which its object was last applied. All documents of a file are validated before the first write. Problems are logged
 * and written to `.problems.json`. The deletion of a file deletes no object.
 */
export function watchFolder(options: WatchedFolderOptions): WatchedFolder {
  const { directory, client, logger, clock, settleMs = defaultSettleMs } = options;
  const files = new Map<string, KnownFile>();
  const backoff = createBackoff({ firstMs: 500, maxMs: 30_000, resetAfterMs: 60_000, now: clock.now });
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let scanning: Promise<void> = Promise.resolve();
  let stopped = false;
  let stopWatching = startWatching();

  function startWatching(): () => void {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return watchDirectory(directory, () => schedule(settleMs), logger);
  }

  /** A failed check may be caused by a deleted folder, so that the folder is created and watched again. */
  function recover(error: unknown): void {
    logger.error('watched_folder_failed', { error: error instanceof Error ? error.name : 'unknown' });
    if (stopped) return;
    stopWatching();
    stopWatching = startWatching();
    schedule(backoff.next());
  }

  function schedule(delayMs: number): void {
    const at = clock.now() + delayMs;
    if (stopped || dueAt <= at) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(() => {
      dueAt = Number.POSITIVE_INFINITY;
      scanning = scanning.then(scan).catch(recover);
    }, delayMs);
  }

  async function scan(): Promise<void> {
    const unsettled = await readChanged();
    markClashes(files);
    for (const [file, known] of files) {
      if (stopped) return;
      if (known.state === 'waiting') await applyFile(file, known);
    }
    await writeProblems(directory, reportOf(files), logger);
    if ([...files.values()].some((known) => known.state === 'waiting')) schedule(backoff.next());
    else if (unsettled) schedule(settleMs);
  }

  /** Reads changed files. @returns whether a file is still being written */
  async function readChanged(): Promise<boolean> {
    const names = (await readdir(directory)).filter((name) => /^[^.].*\.(yaml|yml|json)$/.test(name)).sort();
    for (const file of [...files.keys()]) if (!names.includes(file)) files.delete(file);
    let unsettled = false;
    for (const file of names) {
      const look = await lookAtFile(join(directory, file), {
        known: files.get(file)?.stamp,
        settleMs,
        now: clock.date(),
      });
      if (look.state === 'unsettled') unsettled = true;
      if (look.state === 'vanished') files.delete(file);
      if (look.state === 'read') files.set(file, accept(file, look.stamp, look.content));
    }
    return unsettled;
  }

  function accept(file: string, stamp: string, content: FileContent): KnownFile {
    const refused = content.problems.length > 0;
    if (refused) logProblems(logger, file, content.problems);
    return { stamp, content, state: refused ? 'refused' : 'waiting', problems: content.problems, clashes: false };
  }

  async function applyFile(file: string, known: KnownFile): Promise<void> {
    const failures: { readonly problem: ManifestProblem; readonly passes: boolean }[] = [];
    for (const manifest of known.content.manifests) {
      try {
        const { action } = await applyManifest(client, manifest, {
          sourceHash: manifest.sha256,
          note: { author: 'watched folder' },
        });
        const { kind, resource } = manifest;
        if (action !== 'unchanged')
          logger.info('applied', { file, kind: kind.kind, name: resource.metadata.name, action });
      } catch (error) {
        if (!isKubeError(error)) throw error;
        if (stopped) return;
        const passes = mayPass(error);
        failures.push(...problemsOf(manifest, error).map((problem) => ({ problem, passes })));
      }
    }
    const problems = failures.map(({ problem }) => problem);
    if (JSON.stringify(problems) !== JSON.stringify(known.problems)) logProblems(logger, file, problems);
    known.problems = problems;
    known.state = failures.length === 0 ? 'applied' : failures.some(({ passes }) => passes) ? 'waiting' : 'refused';
  }

  schedule(0);
  return {
    report: () => reportOf(files),
    async [Symbol.asyncDispose]() {
      stopped = true;
      clearTimeout(timer);
      await scanning;
      stopWatching();
    },
  };
}

/** Two files with the same resource would overwrite each other: neither file is applied until one is changed. */
function markClashes(files: ReadonlyMap<string, KnownFile>): void {
  const owners = new Map<string, string[]>();
  for (const [file, { content }] of files) {
    for (const { kind, resource } of content.manifests) {
      const key = manifestKey(kind, resource.metadata.name);
      owners.set(key, [...(owners.get(key) ?? []), file]);
    }
  }
  for (const [file, known] of files) {
    if (known.content.problems.length > 0) continue;
    const clashes = known.content.manifests.flatMap(({ document, kind, resource }) => {
      const others = owners.get(manifestKey(kind, resource.metadata.name))?.filter((other) => other !== file) ?? [];
      return others.map((other) => ({ document, field: 'metadata.name', message: `is also in ${other}` }));
    });
    if (clashes.length > 0) Object.assign(known, { state: 'refused', problems: clashes, clashes: true });
    else if (known.clashes) Object.assign(known, { state: 'waiting', problems: [], clashes: false });
  }
}

/** Whether the same write may succeed later although the file did not change. */
function mayPass(error: KubeError): boolean {
  return error.code !== 'invalid' && error.code !== 'forbidden';
}

function problemsOf(manifest: Manifest, error: KubeError): readonly ManifestProblem[] {
  const { document } = manifest;
  const causes = error.details.causes ?? [{ field: '', message: error.message }];
  return causes.map(({ field, message }) => ({ document, field, message }));
}

function logProblems(logger: Logger, file: string, problems: readonly ManifestProblem[]): void {
  for (const { document, line, field, message } of problems) {
    logger.warn('manifest_refused', { file, document, line, field, message });
  }
}

function reportOf(files: ReadonlyMap<string, KnownFile>): FolderReport {
  const list = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    files: list.map(([file, { state }]) => ({ file, state })),
    problems: list.flatMap(([file, { problems }]) => problems.map((problem) => ({ file, ...problem }))),
  };
}

/** Writes the report if it changed; a folder that is not writable is only logged. */
async function writeProblems(directory: string, report: FolderReport, logger: Logger): Promise<void> {
  const path = join(directory, problemsFile);
  const text = `${JSON.stringify(report, null, 2)}\n`;
  if ((await readFile(path, 'utf8').catch(() => '')) === text) return;
  await writeAtomic(path, text, { mode: 0o644 }).catch((error: unknown) =>
    logger.warn('problems_not_written', { error: error instanceof Error ? error.name : 'unknown' }),
  );
}
