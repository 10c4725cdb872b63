import { compareEngines, type Difference } from './compare-engines.ts';
import type { Reference } from './reference.ts';

/** The shortest pattern and text that still show a difference, found by removing smaller and smaller parts of both. */
export async function shrinkDifference(difference: Difference, reference: Reference): Promise<Difference> {
  let smallest = difference;
  async function tryOut(pattern: string, text: string | undefined): Promise<boolean> {
    const { caseSensitive } = smallest;
    const question = { pattern, caseSensitive, texts: text === undefined ? [] : [text] };
    const [verdict] = await reference.ask([question]);
    if (verdict === undefined) return false;
    const found = compareEngines(question, verdict).find((one) => (one.text === undefined) === (text === undefined));
    if (found === undefined) return false;
    smallest = found;
    return true;
  }
  for (let before = ''; before !== sizeOf(smallest); ) {
    before = sizeOf(smallest);
    await shorten([...smallest.pattern], (parts) => tryOut(parts.join(''), smallest.text));
    if (smallest.text !== undefined) {
      await shorten([...smallest.text], (parts) => tryOut(smallest.pattern, parts.join('')));
    }
  }
  return smallest;
}

function sizeOf({ pattern, text }: Difference): string {
  return `${pattern.length} ${text?.length ?? 0}`;
}

async function shorten(
  parts: readonly string[],
  stillDiffers: (parts: readonly string[]) => Promise<boolean>,
): Promise<void> {
  let rest = parts;
  for (let size = rest.length; size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < rest.length; ) {
      const without = [...rest.slice(0, at), ...rest.slice(at + size)];
      if (await stillDiffers(without)) rest = without;
      else at += size;
    }
  }
}
