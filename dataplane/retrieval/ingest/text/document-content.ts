import type { JsonValue } from '#kit/json/json-value';

type Section = { readonly heading?: string | undefined; readonly text: string };

export type JsonObject = { readonly [key: string]: JsonValue };

/** The `content` of a canonical document (`retrieval:content:*`), validated. */
export type DocumentContent = {
  readonly title?: string | undefined;
  readonly sections?: readonly Section[] | undefined;
  readonly tables?: readonly JsonObject[] | undefined;
  /** The page of each section, counted from 1; ignored if the form does not match. */
  readonly pages?: JsonValue | undefined;
  /** Further members of the content, which are rendered as lines of text. */
  readonly [key: string]: unknown;
};
