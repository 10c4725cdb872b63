import type { AgentBundle } from '#contracts/agent-bundle';
import { agentBundle, type BundleParts } from './agent-bundle.ts';
import { fileUse } from './file-world.ts';

const ref = (path: string): string => `\${${path}}`;
const text = { type: 'string', maxLength: 1_048_576 };
const fileSchema = { type: 'object', properties: { fileId: text, name: text }, required: ['fileId'] };

/** A flow that answers with the text of its file and the id of the temporary object for it. */
const bothUses = {
  apiVersion: 'platform.low-code.flow/v2',
  metadata: { flowId: '01890a5d-ac96-774b-bcce-b302099a8063', name: 'reader', version: 1 },
  input: {
    schema: { type: 'object', properties: { file: fileSchema, more: { type: 'array' } }, required: ['file'] },
  },
  output: { schema: { type: 'object', properties: { text, object: text }, required: ['text'] } },
  entrypoints: { main: 'start' },
  nodes: [
    { id: 'start', kind: 'input' },
    { id: 'read', kind: 'file', inputs: { fileId: ref('input.file.fileId') }, config: { use: 'text' } },
    { id: 'load', kind: 'file', inputs: { fileId: ref('input.file.fileId') }, config: { use: 'provider' } },
    {
      id: 'end',
      kind: 'output',
      inputs: {
        data: {
          text: ref('nodes.read.output.text'),
          object: ref('nodes.load.output.providerFileId'),
          input: ref('input'),
        },
      },
    },
  ],
  edges: [
    { from: 'start', to: 'read' },
    { from: 'read', to: 'load' },
    { from: 'load', to: 'end' },
  ],
};

/** A flow that reads the text of its file and answers with the media type. */
export const readingFlow = {
  ...bothUses,
  nodes: [
    ...bothUses.nodes.slice(0, 2),
    { id: 'end', kind: 'output', inputs: { data: { text: ref('nodes.read.output.mediaType') } } },
  ],
  edges: [
    { from: 'start', to: 'read' },
    { from: 'read', to: 'end' },
  ],
};

export const fileMaxBytes = 1_024;

/** A version that reads files of text and PDF, with at most 1,024 bytes in a call. */
export function fileAgentBundle({ flow = bothUses, manifest, contract, bundle }: BundleParts = {}): AgentBundle {
  return agentBundle({
    flow,
    manifest: {
      files: {
        enabled: true,
        mediaTypes: ['text/plain', 'application/pdf', 'application/json'],
        maxBytes: fileMaxBytes,
      },
      ...manifest,
    },
    contract: { inputMediaModes: ['application/json'], outputMediaModes: ['application/json'], ...contract },
    bundle: { agentId: fileUse.agentId, versionId: fileUse.versionId, ...bundle },
  });
}
