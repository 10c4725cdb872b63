/** A part of a document below one heading, or one page. */
export type DocumentSection = { readonly heading?: string; readonly text: string };

/** The text of a file, as the content of a submitted document has it. */
export type DocumentText = {
  readonly title?: string;
  readonly sections: readonly DocumentSection[];
  /** The page of each section, counted from 1, for formats that have pages. */
  readonly pages?: readonly number[];
};

/** Reasons for which a file gives no text; a closed list, as the summary of a submit counts them. */
export type ExtractionFault =
  | 'empty'
  | 'unsupported'
  | 'file_too_large'
  | 'encoding'
  | 'malformed'
  | 'encrypted'
  | 'expands_too_much'
  | 'too_costly'
  | 'text_too_large'
  | 'no_text';

export type Extraction =
  | { readonly kind: 'text'; readonly document: DocumentText }
  | { readonly kind: 'fault'; readonly fault: ExtractionFault };
