import type { z } from 'zod';
import { readComponents } from '#api/component-health';
import type { memoryHealthSchema } from '#contracts/memory';
import type { Database } from '#sql/connect';

type HealthPorts = { readonly database: Database; readonly queueAnswers: () => Promise<unknown> };
type InUse = {
  readonly embeddingProfile: string | undefined;
  readonly extractionModel: string | undefined;
  readonly guard: 'unguarded' | object;
};

/** The state of the dependencies, and the models in use. */
export async function readMemoryHealth(
  { database, queueAnswers }: HealthPorts,
  { embeddingProfile, extractionModel, guard }: InUse,
): Promise<z.output<typeof memoryHealthSchema>> {
  const { status, components } = await readComponents({
    postgres: () => database.sql`select 1`,
    queue: queueAnswers,
  });
  const details = {
    embedding: embeddingProfile ?? 'none',
    extraction: extractionModel ?? 'statements',
    guard: guard === 'unguarded' ? 'none' : 'served policy',
  };
  return { status, components, details };
}
