import { z } from 'zod';
import { codePoints } from '#contracts/code-points';
import { group, kinds } from './kinds.ts';
import type { Resource, Stored } from './metadata.ts';

/**
 * Annotation of a resource with the author of its current token, and the reason: JSON of a ChangeNote together with the
 * token.
 */
export const changeNoteAnnotation = `${group}/change-note`;

/** Request header of the management API with the message of a command, in percent encoding. */
export const changeMessageHeader = 'x-portcullis-change-message';

/** A line of text: at least one character, and no control character or line separator. */
const line = (max: number) =>
  codePoints(1, max).regex(/^[^\p{Cc}\p{Zl}\p{Zp}]+$/u, 'must be one line without control characters');

export const changeAuthorSchema = line(256);
export const changeMessageSchema = line(512);

/** What follows the name of a user whom the API server knows; no writer can state such an author. */
const userMark = ' (Kubernetes user)';

/** The author of a change that the API server names. */
export function kubernetesUser(name: string): string {
  return `${name}${userMark}`;
}

/** The author and the reason of a change, as its writer stated them or as the API server knows them. */
export type ChangeNote = {
  /**
   * A subject of the management API, a user of the command line or of Kubernetes, or a field manager; the text names
   * which of them it is.
   */
  readonly author?: string | undefined;
  readonly message?: string | undefined;
};

/** Whether a text reads as the name of a user that the API server knows, whatever blanks and invisible characters are in it. */
function looksLikeUser(author: string): boolean {
  const visible = (text: string): string =>
    text
      .normalize('NFKC')
      .replace(/[\s\p{Cf}]/gu, '')
      .toLowerCase();
  return visible(author).endsWith(visible(userMark));
}

const noteSchema = z.strictObject({
  token: z.string().max(128),
  author: changeAuthorSchema.refine((author) => !looksLikeUser(author)).optional(),
  message: changeMessageSchema.optional(),
});

/** The optional member of a spec whose new value marks a new application. */
export const tokenMembers: ReadonlyMap<string, string> = new Map([
  [kinds.guardrailPolicy.kind, 'change'],
  [kinds.modelBinding.kind, 'apply'],
]);

/**
 * The value to which a note refers: the token of the spec, or for a kind without a token the generation, which every
 * change of the spec increases by one.
 */
export function noteToken({ kind, spec, metadata }: NotedObject): string {
  const member = tokenMembers.get(kind);
  if (member === undefined) return `generation ${metadata.generation}`;
  const token = (spec as Readonly<Record<string, unknown>>)[member];
  return typeof token === 'string' ? token : '';
}

type NotedObject = Pick<Resource, 'kind' | 'spec'> & {
  readonly metadata: Pick<Stored<Resource>['metadata'], 'generation'>;
};

/**
 * The note of the newest change of an object whose spec has no token; undefined if the writer of that change wrote no
 * note. Objects with a token have the notes in their revisions and applications.
 */
export function noteOfGeneration(object: Stored<Resource>): ChangeNote | undefined {
  if (tokenMembers.has(object.kind)) return undefined;
  return readChangeNote(object.metadata.annotations, noteToken(object));
}

/** The value of the annotation for a write with this token. */
export function writeChangeNote(token: string, { author, message }: ChangeNote): string {
  return JSON.stringify({ token, author, message });
}

/** The note of the write that set this token; undefined if the writer wrote no note. */
export function readChangeNote(
  annotations: Readonly<Record<string, string>> | undefined,
  token: string,
): ChangeNote | undefined {
  const text = annotations?.[changeNoteAnnotation];
  if (text === undefined) return undefined;
  try {
    const read = noteSchema.safeParse(JSON.parse(text));
    if (!read.success || read.data.token !== token) return undefined;
    const { token: _own, ...note } = read.data;
    return note;
  } catch {
    return undefined;
  }
}
