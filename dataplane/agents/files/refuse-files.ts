import { AgentError } from '../calls/agent-error.ts';
import type { CallFiles } from './call-files.ts';
import { hasReference } from './find-references.ts';

/**
 * A version without files: a file reference is refused, so that no part of it reaches a flow or a policy
 * (`agents:order:fileref-disabled`).
 */
export const refuseFiles: CallFiles = {
  async resolve(parts) {
    if (parts.some((part) => part.kind === 'data' && hasReference(part.data))) throw new AgentError('file_refused');
    return parts;
  },
  texts: () => [],
  setTexts: () => undefined,
  find: () => undefined,
  end: async () => undefined,
};
