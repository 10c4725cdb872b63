import { embedText } from './embed-text.ts';
import { ModelsError } from './models-error.ts';
import type { EmbeddingProfile, ModelCall, Models } from './ports.ts';

/**
 * One vector for each text, in as few calls as the profile allows. If the model refuses one of the texts, each text is
 * embedded in a call of its own; if a text has more tokens than the model accepts, only its beginning is embedded.
 * @throws ModelsError
 */
export async function embedAll(
  models: Pick<Models, 'embed'>,
  {
    profile,
    use,
    texts,
  }: {
    readonly profile: EmbeddingProfile;
    readonly use: 'query' | 'passage';
    readonly texts: readonly string[];
  },
  call: ModelCall,
): Promise<readonly (Float32Array | undefined)[]> {
  try {
    return await models.embed(profile, use, texts, call);
  } catch (error) {
    if (!(error instanceof ModelsError) || error.code !== 'refused') throw error;
  }
  const vectors: (Float32Array | undefined)[] = [];
  for (const text of texts) vectors.push(await embedText(models, { profile, use, text }, call));
  return vectors;
}
