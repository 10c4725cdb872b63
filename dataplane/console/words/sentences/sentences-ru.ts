import { agentSentencesRu } from './agents-ru.ts';
import { bindingSentencesRu } from './bindings-ru.ts';
import { documentSentencesRu } from './documents-ru.ts';
import { flowSentencesRu } from './flows-ru.ts';
import { providerSentencesRu } from './providers-ru.ts';
import { remedySentencesRu } from './remedies-ru.ts';
import { ruleSentencesRu } from './rules-ru.ts';
import { shapeSentencesRu } from './shapes-ru.ts';
import type { SentenceTable } from './translate.ts';
import { workloadSentencesRu } from './workloads-ru.ts';

/** Every sentence of causes, steps, remedies and problems that the pages show, in Russian. */
export const sentencesRu: SentenceTable = {
  ...bindingSentencesRu,
  ...workloadSentencesRu,
  ...providerSentencesRu,
  ...remedySentencesRu,
  ...agentSentencesRu,
  ...shapeSentencesRu,
  ...ruleSentencesRu,
  ...flowSentencesRu,
  ...documentSentencesRu,
};
