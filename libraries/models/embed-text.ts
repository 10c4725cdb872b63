import { ModelsError } from './models-error.ts';
import type { EmbeddingProfile, ModelCall, Models } from './ports.ts';

/** A shorter beginning of a refused text is not tried, UTF-16 units. */
const leastUnits = 64;

/**
 * The vector of a text. A text may have more tokens than the model accepts, which only the model knows: for a refused
 * text the first half is tried, then the first quarter and so on, so that a long text and a long query are still found
 * by their meaning.
 * @throws ModelsError, `refused` only if the shortest beginning is refused, too
 */
export async function embedText(
  models: Pick<Models, 'embed'>,
  {
    profile,
    use,
    text,
  }: { readonly profile: EmbeddingProfile; readonly use: 'query' | 'passage'; readonly text: string },
  call: ModelCall,
): Promise<Float32Array | undefined> {
  for (let units = text.length; ; units = Math.floor(units / 2)) {
    try {
      const [vector] = await models.embed(profile, use, [text.slice(0, units).toWellFormed()], call);
      return vector;
    } catch (error) {
      if (!isRefusal(error) || units / 2 < leastUnits) throw error;
    }
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ModelsError && error.code === 'refused';
}
