import type { SentenceTable } from './translate.ts';

/** English pages show the sentences of the APIs unchanged. */
export const sentencesEn: SentenceTable = {};
