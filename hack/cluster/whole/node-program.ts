import type { IdentityFiles } from '../control-plane/identity-files.ts';
import type { Space } from './space.ts';

/** What every program of the node needs to start. */
export type NodeProgram = {
  readonly program: string;
  readonly folder: string;
  readonly within: Space;
  readonly identities: IdentityFiles;
  readonly apiServerUrl: string;
  readonly nodeName: string;
  readonly nodeAddress: string;
};
