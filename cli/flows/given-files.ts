import { randomUUID } from 'node:crypto';
import { mostFileReferences } from '#contracts/file-reference';
import { flowLimits } from '#contracts/flow-limits';
import { PortError } from '#flow/engine/flow-error';
import type { FlowPorts } from '#flow/engine/ports';
import { fileText, hasMediaType, hasText } from '#flow/files/media-types';
import { fileUses } from '#flow/loader/file-uses';
import type { LoadedFlow } from '#flow/loader/loaded-flow';
import type { JsonValue } from '#kit/json/json-value';
import { type GivenFile, readGivenFile } from '../agents/read-given-file.ts';
import { CliError } from '../errors/cli-error.ts';
import type { FilePaths } from '../options/file-path.ts';

type Input = Readonly<Record<string, JsonValue>>;

/** The input of a run with its files, and the port that reads the files. */
type InputWithFiles = { readonly input: Input; readonly file: FlowPorts['file'] };

/**
 * Puts files into the input of a run, in the same form and with the same checks as a served version. A reference is not
 * needed, because the author of the flow has the files.
 * @throws CliError usage, not_found
 */
export async function readInputFiles(flow: LoadedFlow, input: Input, paths: FilePaths): Promise<InputWithFiles> {
  const files = new Map<string, GivenFile>();
  const shown: Record<string, JsonValue> = {};
  const uses = fileUses(flow);
  const given = Object.entries(paths);
  if (given.length > 0 && uses.size === 0) throw new CliError('usage', 'The flow has no file node: give it no file.');
  if (given.length > mostFileReferences) {
    throw new CliError('usage', `A run has at most ${mostFileReferences} files, and these are ${given.length}.`);
  }
  for (const [member, path] of given) {
    if (Object.hasOwn(input, member)) {
      throw new CliError('usage', `The file ${path} is the member ${member} of the input: leave it out of the input.`);
    }
    const file = await readGivenFile(path);
    checkFile(path, file, uses);
    const fileId = `file-${files.size + 1}`;
    files.set(fileId, file);
    shown[member] = { fileId, name: file.name, mediaType: file.mediaType, size: file.bytes.length };
  }
  return { input: { ...input, ...shown }, file: filePort(files) };
}

/** Refuses a file that a served version would refuse, or that no file node of the flow can read. */
function checkFile(path: string, { mediaType, bytes }: GivenFile, uses: ReadonlySet<'text' | 'provider'>): void {
  if (!hasMediaType(bytes, mediaType)) {
    throw new CliError('usage', `${path} does not have the content of ${mediaType}, the media type of its name.`);
  }
  if (!uses.has('text')) return;
  if (!uses.has('provider') && !hasText(mediaType)) {
    throw new CliError(
      'usage',
      `${path} is ${mediaType}, and the file nodes of the flow have "use: text", which reads texts, CSV, HTML, Markdown and JSON only.`,
    );
  }
  if (hasText(mediaType) && bytes.length > flowLimits.outputBytes) {
    throw new CliError(
      'usage',
      `${path} has ${bytes.length} bytes, and a file node reads a text of at most ${flowLimits.outputBytes}: make it smaller.`,
    );
  }
}

function filePort(files: ReadonlyMap<string, GivenFile>): FlowPorts['file'] {
  return async ({ fileId, use }) => {
    const file = files.get(fileId);
    if (file === undefined) throw new PortError('file_provider_mapping_failed');
    const { mediaType, bytes } = file;
    // In a served version, the id names a copy of the file; no node reads the copy, so that none is made here.
    if (use === 'provider') return { mediaType, providerFileId: randomUUID() };
    const text = fileText(bytes, mediaType);
    if (text === undefined) throw new PortError('file_provider_mapping_failed');
    return { mediaType, text };
  };
}
