import { createHash } from 'node:crypto';
import type { DocumentInput } from '../retrieval/retrieval-client.ts';
import type { DocumentText } from './extraction/document-text.ts';

/** The settings that all documents of a submit share. */
export type DocumentSettings = {
  readonly collection: string;
  readonly tenant: string;
  /** The access list; if it is empty, the collection's policy for empty lists applies. */
  readonly groups: readonly string[];
  readonly principals: readonly string[];
  /** `metadata.source` of each document. */
  readonly source?: string;
  /** Address to which the document id is added, for citations. */
  readonly baseUrl?: string;
};

type SourceFile = {
  readonly docId: string;
  /** The digest of its bytes, with its algorithm. */
  readonly contentHash: string;
  /** Milliseconds since 1970. */
  readonly changedMs: number;
};

/**
 * The document of a file. Its content hash covers the bytes. Its idempotency key also covers the settings and the time
 * of the last change, so that the same file is a duplicate, but a file that was changed and changed back is not.
 */
export function makeDocument(
  { docId, contentHash, changedMs }: SourceFile,
  content: DocumentText,
  settings: DocumentSettings,
): DocumentInput {
  const { collection, tenant, groups, principals, source, baseUrl } = settings;
  const acl =
    groups.length + principals.length === 0 ? {} : { acl: { groups: [...groups], principals: [...principals] } };
  const metadata = {
    ...(source === undefined ? {} : { source }),
    ...(baseUrl === undefined ? {} : { url: urlOf(baseUrl, docId) }),
  };
  const parts = [contentHash, acl, metadata, Math.trunc(changedMs)];
  return {
    collection,
    tenant_id: tenant,
    doc_id: docId,
    content: { ...content, sections: [...content.sections] },
    ...acl,
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    content_hash: contentHash,
    idempotency_key: digestOf(parts),
  };
}

/**
 * The document under another key, which the service does not answer with the earlier job. The key depends only on the
 * name of the repetition: with the id of that job as the name, an interrupted command is repeated unchanged.
 */
export function repeatedDocument(document: DocumentInput, repetition: string): DocumentInput {
  return { ...document, idempotency_key: digestOf([document.idempotency_key, repetition]) };
}

function digestOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

function urlOf(baseUrl: string, docId: string): string {
  const path = docId.split('/').map(encodeURIComponent).join('/');
  return `${baseUrl.replace(/\/$/, '')}/${path}`;
}
