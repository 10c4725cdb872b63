import { type JsonNode, member, parseTree } from '#kit/json/parse-tree';
import { splice } from '#kit/json/splice';
import { isWithoutFurtherText } from '../judged/answer-texts.ts';

/** `text`: a frame without the pieces that clients join. `pieces`: one with these alone, which has no judged text. */
type DividedFrame = { readonly text: Buffer; readonly pieces: Buffer };

type Member = (JsonNode & { readonly kind: 'object' })['members'][number];

/** Members that tell a client to which answer a frame belongs. All others, such as the usage, stay in the frame with the text. */
const frameMembers: ReadonlySet<string> = new Set([
  ...['id', 'object', 'created', 'model', 'system_fingerprint', 'service_tier'],
]);
const choiceMembers: ReadonlySet<string> = new Set(['index', 'finish_reason']);

/**
 * Divides a frame with held text and pieces of a call, or of a reasoning that is not judged, into two frames, from which a client reads
 * the same answer (docs/design/streaming.md, "Frames without text behind held text").
 * @param data of a frame that `readChunk` accepted, with a delta
 * @param joined the members of the delta with these pieces
 */
export function divideFrame(data: Buffer, joined: readonly string[]): DividedFrame {
  const root = parseTree(data, { unpairedSurrogates: 'keep' });
  const choices = member(root, 'choices');
  const choice = choices?.kind === 'array' ? choices.items[0] : undefined;
  const delta = choice === undefined ? undefined : member(choice, 'delta');
  if (root.kind !== 'object' || choice?.kind !== 'object' || delta?.kind !== 'object')
    throw new TypeError('a frame without a delta cannot be divided');
  const isPiece = ({ key }: Member): boolean => joined.includes(key);
  const written = ({ value }: Member): Uint8Array => data.subarray(value.start, value.end);
  const object = (members: readonly Member[], bytesOf: (one: Member) => Uint8Array): Buffer =>
    Buffer.concat([
      ...members.flatMap((one, at) => [
        Buffer.from(at === 0 ? '{' : ','),
        ...[data.subarray(one.keyStart, one.keyEnd), Buffer.from(':'), bytesOf(one)],
      ]),
      Buffer.from(members.length === 0 ? '{}' : '}'),
    ]);
  const rest = object(
    delta.members.filter((one) => !isPiece(one)),
    written,
  );
  const pieces = object(delta.members.filter(isPiece), written);
  const choiceOf = choice.members.filter(
    (one) => one.key === 'delta' || (choiceMembers.has(one.key) && isWithoutFurtherText(one, 'choice')),
  );
  const pieceChoice = object(choiceOf, (one) => (one.key === 'delta' ? pieces : written(one)));
  const kept = root.members.filter(
    (one) => one.key === 'choices' || (frameMembers.has(one.key) && isWithoutFurtherText(one, 'root')),
  );
  const list = Buffer.concat([Buffer.from('['), pieceChoice, Buffer.from(']')]);
  return {
    text: Buffer.from(splice(data, [{ start: delta.start, end: delta.end, replacement: rest }])),
    pieces: object(kept, (one) => (one.key === 'choices' ? list : written(one))),
  };
}
