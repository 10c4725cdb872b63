import type { JudgedTextKind } from '#contracts/judged-texts';
import type { JsonNode } from '#kit/json/parse-tree';
import { foldKey } from '../chat/fold-key.ts';
import { collectorFor, type TextCollector } from './covered-texts.ts';
import { addressed, addresses, readAddress, readAddressed, readFileData, readImageTexts } from './file-texts.ts';

const files: ReadonlySet<JudgedTextKind> = new Set(['files']);

/**
 * The texts of the member `images` of an answer, or of `image_url` of one of its parts: addresses, and text in their
 * data. A picture itself has no text. All these texts have the kind `parameters`, like every text that the provider
 * adds.
 */
export function readAnswerPictures(
  key: 'images' | 'image_url',
  value: JsonNode,
  role: string,
  to: TextCollector,
): void {
  const collector = ofParameters(to);
  if (key === 'images') readImageTexts(value, '', role, collector);
  else readAddressed(value, '', role, collector);
}

/** A collector that takes the texts of files as parameters. */
function ofParameters(collector: TextCollector): TextCollector {
  const kindOf = (kind: JudgedTextKind): JudgedTextKind => (kind === 'files' ? 'parameters' : kind);
  return {
    ...collector,
    take: (kind, ...rest) => collector.take(kindOf(kind), ...rest),
    takeNested: (kind, ...rest) => collector.takeNested(kindOf(kind), ...rest),
    takeDecoded: (kind, ...rest) => collector.takeDecoded(kindOf(kind), ...rest),
  };
}

/**
 * A place in the pictures of a frame. `images`: the member of that name. `image`: an item of `images`, whose strings
 * are addresses or the data of a file. `file`: an address, or an object with an address. `address`, `data`: a member of
 * such an object.
 */
export type PictureNode = 'images' | 'image' | 'file' | 'address' | 'data';

/**
 * The kind of picture that a member of the root, the choice or the delta contains, or a member of a part of the content
 * (`isOfPart`), as in a whole answer.
 */
export function pictureAt(key: string, isOfPart: boolean): PictureNode | undefined {
  if (isOfPart) return key === 'image_url' ? 'file' : undefined;
  return key === 'images' ? 'images' : undefined;
}

/** The pictures in a member of an object; undefined where the member has other text. */
export function pictureBelow(node: PictureNode | undefined, key: string): PictureNode | undefined {
  if (node === 'images' || node === 'image') return addressed.has(key) ? 'file' : key === 'url' ? 'address' : undefined;
  if (node !== 'file') return undefined;
  const name = foldKey(key);
  return addresses.has(name) ? 'address' : name === 'file_data' ? 'data' : undefined;
}

/**
 * The texts of one string of a picture in a frame. `written`: the string is an address or another text. `decoded`: the
 * texts in its data or its percent-encoding. `isUnreadable`: the string is the data of a document.
 */
export function readPictureString(
  node: JsonNode & { readonly kind: 'string' },
  bytes: Uint8Array,
  picture: PictureNode,
): { readonly written: boolean; readonly decoded: readonly string[]; readonly isUnreadable: boolean } {
  const collector = collectorFor(bytes, files);
  if (picture === 'file' || picture === 'address') readAddress(node, '', 'assistant', collector);
  else readFileData(node, '', 'assistant', collector);
  const { units, unjudgedAt } = collector.covered();
  const texts = units.map(({ content }) => content);
  const decoded = texts.filter((text) => text !== node.value);
  return { written: decoded.length < texts.length, decoded, isUnreadable: unjudgedAt !== undefined };
}
