import { fieldPath, type ShapeProblem } from '#contracts/read-shape';
import { nearestWord } from '#kit/text/nearest-word';

/** Most fields that a message lists. */
const maxFields = 12;

/** The predicate of a problem, with the field that the writer most likely meant or with the fields that there are. */
export function shapeMessage({ path, message, known = [] }: ShapeProblem): string {
  if (known.length === 0) return message;
  const nearest = nearestWord(String(path.at(-1)), known);
  if (nearest !== undefined) return `${message}: did you mean ${nearest}?`;
  const parent = fieldPath(path.slice(0, -1));
  const of = parent === '' ? 'there are' : `${parent} has`;
  const more = known.length > maxFields ? ' and others' : '';
  return `${message}: ${of} ${known.slice(0, maxFields).join(', ')}${more}`;
}
