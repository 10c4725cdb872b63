import type { ChangeNote } from '#resources/change-note';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';

/** The author and the message of the application that serves requests; undefined if neither was recorded. */
export function appliedBy({ status }: Stored<ModelBinding>): ChangeNote | undefined {
  const served = status?.pinned?.generationId;
  const record = status?.applications?.find(
    ({ generationId }) => generationId !== undefined && generationId === served,
  );
  if (record?.author === undefined && record?.message === undefined) return undefined;
  const { author, message } = record;
  return { ...(author === undefined ? {} : { author }), ...(message === undefined ? {} : { message }) };
}

/** The note as a phrase: `ann (command line): a reason`. */
export function appliedByText({ author = 'unknown', message }: ChangeNote): string {
  return message === undefined ? author : `${author}: ${message}`;
}
