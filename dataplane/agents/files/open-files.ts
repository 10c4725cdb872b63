import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileUses } from '#flow/loader/file-uses';
import { createFileCapabilityVerifier } from '#identity/file-capability';
import { type ByteBudget, createByteBudget } from '#kit/http/byte-budget';
import { openTokenFile } from '#kit/http/token-file';
import type { Logger } from '#kit/log/logger';
import type { LoadedAgent } from '../bundle/load-agent.ts';
import { type CallFiles, createCallFiles, type FileTimes } from './call-files.ts';
import { createFolderAccess } from './folder-access.ts';
import { createHttpAccess } from './http-access.ts';
import type { FileAccess } from './ports.ts';
import { openTemporaryFiles } from './temporary-files.ts';
import { type PlaceWatch, watchPlace } from './watch-place.ts';

/** Where the referenced files are stored. */
export type FilePlace =
  | { readonly kind: 'folder'; readonly root: string; readonly issuer: string; readonly keysFile: string }
  | { readonly kind: 'service'; readonly url: URL };

type OpenFilesOptions = {
  readonly agent: LoadedAgent;
  readonly place: FilePlace;
  readonly serviceTokenFile: string | undefined;
  readonly logger: Logger;
  readonly times?: FileTimes;
};

/** The files of one version at the place that its settings name, and whether that place answers. */
export async function openWatchedFiles(
  options: OpenFilesOptions,
): Promise<AsyncDisposable & { readonly files: CallFiles; readonly watch: PlaceWatch }> {
  const { place, serviceTokenFile, logger, times } = options;
  const access = openAccess(place, serviceTokenFile, logger);
  const files = await openCallFiles(options);
  const watch = await watchPlace({ access, logger, everyMs: times?.probeMs });
  return { files, watch, [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose]() };
}

/** The files of one version at the place that its settings name. */
export async function openCallFiles({
  agent,
  place,
  serviceTokenFile,
  logger,
  times,
}: OpenFilesOptions): Promise<CallFiles> {
  const { manifest, flow, bundle } = agent;
  const { mediaTypes, maxBytes } = manifest.files;
  return createCallFiles({
    budget: createFileBudget(maxBytes, times?.waitMs),
    access: openAccess(place, serviceTokenFile, logger),
    provider: await openTemporaryFiles(join(tmpdir(), `portcullis-files-${bundle.versionId}`)),
    rules: { mediaTypes, maxBytes, uses: fileUses(flow) },
    logger,
    ...(times === undefined ? {} : { times }),
  });
}

/**
 * Bytes of the files of all calls together (one file may have at most half of them), and how long a call waits for free
 * bytes.
 */
const held = { bytes: 32 * 1_048_576, waitMs: 15_000 } as const;

/** The budget of the files that the calls of a process hold (docs/design/held-bytes.md). */
function createFileBudget(maxBytes: number, waitMs: number = held.waitMs): ByteBudget {
  return createByteBudget({ limit: Math.max(held.bytes, 2 * maxBytes), largest: maxBytes, waitMs });
}

function openAccess(place: FilePlace, serviceTokenFile: string | undefined, logger: Logger): FileAccess {
  if (place.kind === 'folder') {
    const onUnavailable = (): void => logger.warn('file_keys_unavailable', {});
    const { issuer, keysFile, root } = place;
    return createFolderAccess(root, createFileCapabilityVerifier({ issuer, jwks: { file: keysFile }, onUnavailable }));
  }
  const tokens = serviceTokenFile === undefined ? undefined : openTokenFile(serviceTokenFile);
  return createHttpAccess({
    url: place.url,
    headersFor: async () => (tokens === undefined ? {} : { authorization: `Bearer ${tokens.first()}` }),
  });
}
