import type { CanonicalText } from '../text/canonical-text.ts';
import type { JsonObject } from '../text/document-content.ts';
import { type JudgedDocument, textsOf } from '../text/guarded-texts.ts';
import { storedBlocks } from '../text/stored-blocks.ts';
import type { IngestPorts } from '../worker/ingest-ports.ts';
import { judgeDocument } from '../worker/prepare-document.ts';
import { type ReplacedText, resubmitMasked } from './resubmit-masked.ts';

type StoredText = ReplacedText & { readonly canonical: CanonicalText; readonly metadata: JsonObject };

/**
 * Judges a stored text by the current policy. If the policy now masks more, the masked text is submitted as a separate
 * job, because chunks of one sequence number never change.
 * @throws DocumentFault if the policy denies the text, or if it masks more and no job may replace the text;
 * DependencyUnavailableError if the text is not judged
 */
export async function checkAgain(
  ports: IngestPorts,
  stored: StoredText,
  signal: AbortSignal,
): Promise<'unchanged' | 'left_to_job'> {
  const before: JudgedDocument = { ...storedBlocks(stored.canonical), metadata: stored.metadata };
  const { document } = await judgeDocument(ports, stored, before, signal);
  const texts = textsOf(document);
  if (textsOf(before).every((text, at) => text === texts[at])) return 'unchanged';
  await resubmitMasked(ports, stored, document);
  return 'left_to_job';
}
