import { z } from 'zod';
import { type Followed, followFiles } from '#environment/follow-files';
import { readYamlFile, repeatedNames } from '#environment/read-yaml-file';
import { ConfigError } from '#kit/env/config-error';
import type { Logger } from '#kit/log/logger';
import type { EmbeddingProfile, RerankProfile, RewriteProfile } from './ports.ts';

const id = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'must have only letters, digits, ".", "_" and "-"');
const model = z.string().min(1).max(128);
const prefix = z.string().max(1_024).default('');

/**
 * The approved profiles of models (`models.yaml`). Each `model` is an alias of the model gateway; no profile holds an
 * address or a key of a provider.
 */
export const profilesFileSchema = z.strictObject({
  embedding: z
    .array(
      z.strictObject({
        id,
        model,
        dimension: z.int().min(1).max(8_192),
        sendDimension: z.boolean().default(false),
        batch: z.int().min(1).max(2_048).default(64),
        maxTokens: z.int().min(16).max(131_072).default(512),
        queryPrefix: prefix,
        passagePrefix: prefix,
      }),
    )
    .max(64)
    .default([]),
  rerank: z
    .array(z.strictObject({ id, model, maxDocuments: z.int().min(1).max(1_000).default(100) }))
    .max(64)
    .default([]),
  rewrite: z
    .array(z.strictObject({ id, model, timeoutMs: z.int().min(1).max(60_000).default(2_000) }))
    .max(64)
    .default([]),
});

/** The approved profiles by their ids. If no profile is named, reranking and rewriting use the first listed one. */
export type ApprovedProfiles = {
  readonly embedding: ReadonlyMap<string, EmbeddingProfile>;
  readonly rerank: ReadonlyMap<string, RerankProfile>;
  readonly rewrite: ReadonlyMap<string, RewriteProfile>;
};

/**
 * Reads the approved profiles; without the file no profile is approved. @throws ConfigError with one sentence per
 * problem
 */
export async function readProfiles(path: string): Promise<ApprovedProfiles> {
  const { value, problems } = await readYamlFile(path, profilesFileSchema, { embedding: [], rerank: [], rewrite: [] });
  const all = [
    ...problems,
    ...(['embedding', 'rerank', 'rewrite'] as const).flatMap((kind) => twice(path, kind, value[kind])),
  ];
  if (all.length > 0) throw new ConfigError(all);
  return { embedding: byId(value.embedding), rerank: byId(value.rerank), rewrite: byId(value.rewrite) };
}

type FollowProfilesOptions = {
  readonly path: string;
  readonly logger: Logger;
  /** Called with the problems of each change; while there are problems, the previous profiles stay in use. */
  readonly onRead: (problems: readonly string[]) => void;
  readonly everyMs?: number;
};

/**
 * The current profiles of the file; while the file has a problem, the earlier profiles stay in use. @throws ConfigError
 * at the start
 */
export function followProfiles(options: FollowProfilesOptions): Promise<Followed<ApprovedProfiles>> {
  const { path, logger, onRead, ...times } = options;
  return followFiles({
    ...times,
    paths: [path],
    read: () => readProfiles(path),
    onTaken({ embedding, rerank, rewrite }) {
      onRead([]);
      logger.info('model_profiles_loaded', { embedding: embedding.size, rerank: rerank.size, rewrite: rewrite.size });
    },
    onRefused(problems) {
      onRead(problems);
      logger.warn('profiles_refused', { problems: problems.length });
    },
  });
}

function twice(path: string, kind: string, entries: readonly { readonly id: string }[]): readonly string[] {
  const names = repeatedNames(entries.map((entry) => ({ name: entry.id })));
  return names.map((name) => `${path}: the ${kind} profile ${name} is listed twice`);
}

function byId<P extends { readonly id: string }>(entries: readonly P[]): ReadonlyMap<string, P> {
  return new Map(entries.map((entry) => [entry.id, entry]));
}
