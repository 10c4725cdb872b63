import type { FigureFile } from './figure-file.ts';
import { noFigures } from './figure-schemas.ts';

/** Figures of patterns in the memory of this process: as many as a file can have, and no part of a text. */
export function createFigureMemory(): FigureFile {
  let known = noFigures;
  return {
    read: async () => known,
    async write(figures) {
      known = figures;
    },
  };
}
