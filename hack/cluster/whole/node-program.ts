import type { IdentityFiles } from '../control-plane/identity-files.ts';
import type { Space } from './space.ts';

/** The parameters of every program of the node. */
export type NodeProgram = {
  readonly program: string;
  readonly folder: string;
  readonly within: Space;
  readonly identities: IdentityFiles;
  readonly apiServerUrl: string;
  readonly nodeName: string;
  readonly nodeAddress: string;
};
