import type { PublishManifest } from '../definition/manifest-schema.ts';
import { hasText, knownMediaTypes } from '../files/media-types.ts';
import type { PlacedProblem } from '../source/problem.ts';
import { fileUses } from './file-uses.ts';
import type { LoadedFlow } from './loaded-flow.ts';
import { textMemberOf } from './text-member.ts';

const inputModes = ['text/plain', 'application/json'];

/** The end of each message about a request that no version can meet (`agents:card:unimplemented-readiness`). */
export const unavailableCode = 'advertised_capability_unavailable';

/** Media modes of messages and media types of files that this release, or the flow, does not offer. */
export function mediaProblems({ contract, files }: PublishManifest, flow: LoadedFlow): readonly PlacedProblem[] {
  return [...modeProblems(contract), ...(files.enabled ? fileProblems(files, flow) : [])];
}

function modeProblems(contract: PublishManifest['contract']): readonly PlacedProblem[] {
  return contract.inputMediaModes.flatMap((mode, index): readonly PlacedProblem[] => {
    const at = ['contract', 'inputMediaModes', index];
    if (!inputModes.includes(mode)) {
      const message = `is not a mode of this release, which has ${inputModes.join(' and ')}: ${unavailableCode}`;
      return [{ code: 'capability', at, message }];
    }
    if (mode !== 'text/plain' || textMemberOf(contract) !== undefined) return [];
    const message = 'needs an input schema with a string named text, or with exactly one required string';
    return [{ code: 'types', at, message }];
  });
}

function fileProblems({ mediaTypes }: PublishManifest['files'], flow: LoadedFlow): readonly PlacedProblem[] {
  const at = ['files', 'mediaTypes'];
  if (mediaTypes.length === 0) return [{ code: 'shape', at, message: 'must have the media type of at least one file' }];
  const uses = fileUses(flow);
  const needsText = uses.has('text') && !uses.has('provider');
  return mediaTypes.flatMap((type, index): readonly PlacedProblem[] => {
    if (!knownMediaTypes.includes(type)) {
      const message = `is not a media type of this release, which has ${knownMediaTypes.join(', ')}: ${unavailableCode}`;
      return [{ code: 'capability', at: [...at, index], message }];
    }
    if (!needsText || hasText(type)) return [];
    const message = `has no text, and the file nodes of the flow have "use: text": ${unavailableCode}`;
    return [{ code: 'capability', at: [...at, index], message }];
  });
}
