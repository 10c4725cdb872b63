/** One place of a text: byte offsets into its UTF-8 form, `end` excluded. */
export type Span = { readonly start: number; readonly end: number };
