import { retrievalLimits } from '#contracts/retrieval';
import type { Extraction } from './document-text.ts';

/** A file to read, and the bytes that it may have. */
export type ReadJob = { readonly path: string; readonly fileBytes: number };

/** The extraction of a file, with the hash of the bytes that it was made from. */
export type FileReading =
  | (Extract<Extraction, { kind: 'text' }> & { readonly contentHash: string })
  | Extract<Extraction, { kind: 'fault' }>;

/** What the file gives, or the code of the error of the file system. */
export type ReadJobAnswer = FileReading | { readonly kind: 'unreadable'; readonly code: string };

/** UTF-16 units of an answer: its text as JSON, and the rest. */
export const maxAnswerLength = retrievalLimits.inlineBytes + 1_024;
