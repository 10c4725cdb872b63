import type { SentenceTable } from './translate.ts';

/** English pages show the sentences of the APIs as they are. */
export const sentencesEn: SentenceTable = {};
