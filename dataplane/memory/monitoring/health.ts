import type { z } from 'zod';
import type { memoryHealthSchema } from '#contracts/memory';
import type { Database } from '#sql/connect';

/** Longest wait for one dependency, milliseconds. */
const timeoutMs = 2_000;

type Check = () => Promise<unknown>;
type HealthPorts = { readonly database: Database; readonly queueAnswers: Check };
type InUse = { readonly embeddingProfile: string | undefined; readonly extractionModel: string | undefined };

/** The state of the dependencies, and which models are in use. */
export async function readMemoryHealth(
  { database, queueAnswers }: HealthPorts,
  { embeddingProfile, extractionModel }: InUse,
): Promise<z.output<typeof memoryHealthSchema>> {
  const [postgres, queue] = await Promise.all([answers(() => database.sql`select 1`), answers(queueAnswers)]);
  const status = postgres === 'ok' && queue === 'ok' ? 'ok' : 'degraded';
  const details = { embedding: embeddingProfile ?? 'none', extraction: extractionModel ?? 'statements' };
  return { status, components: { postgres, queue }, details };
}

function answers(check: Check): Promise<'ok' | 'degraded'> {
  const late = new Promise<'degraded'>((resolve) => {
    setTimeout(() => resolve('degraded'), timeoutMs).unref();
  });
  const answer = Promise.resolve()
    .then(check)
    .then(
      () => 'ok' as const,
      () => 'degraded' as const,
    );
  return Promise.race([answer, late]);
}
