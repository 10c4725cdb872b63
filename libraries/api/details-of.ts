import type { ShapeProblem } from '#contracts/read-shape';
import type { ErrorDetail } from './operation.ts';

/** Maximum number of details of one error; further problems are reported once these are corrected. */
const maxDetails = 20;

/**
 * One detail for each problem of a body. The name of an unknown member is included only if it is a plain identifier.
 */
export function detailsOf(problems: readonly ShapeProblem[]): readonly ErrorDetail[] {
  return problems.slice(0, maxDetails).map(({ path, message, isUnknown }) => {
    const isPlain = !isUnknown || /^[A-Za-z][A-Za-z0-9]{0,63}$/.test(String(path.at(-1)));
    return isPlain
      ? { path: pointerOf(path), message }
      : { path: pointerOf(path.slice(0, -1)), message: 'has an unknown field' };
  });
}

function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
