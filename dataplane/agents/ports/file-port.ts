import { PortError } from '#flow/engine/flow-error';
import type { FlowPorts } from '#flow/engine/ports';
import type { CallFiles } from '../files/call-files.ts';

/**
 * The port for file nodes: the files that step three has read for the same run. A name of another run, a path or a URL
 * names no file (`fileref:insufficient:provider-path`, `fileref:provider-path:not-reused-run`).
 */
export function createFilePort(files: CallFiles): FlowPorts['file'] {
  return async ({ fileId, use }, { runId }) => {
    const file = files.find(runId, fileId);
    const value = use === 'text' ? file?.text : file?.providerFileId;
    if (file === undefined || value === undefined) throw new PortError('file_provider_mapping_failed');
    return { mediaType: file.mediaType, ...(use === 'text' ? { text: value } : { providerFileId: value }) };
  };
}
