import { createHash } from 'node:crypto';
import { childSpan, type TraceContext } from '#kit/http/trace-context';

/**
 * The span of a node of a run, by its path, which occurs once in a run. The id is computed from the run and the path,
 * so that neither the run nor its observers keep a table of spans.
 * @param run the span of the run
 * @param path the path as in the events of the run
 */
export function nodeSpan(run: TraceContext, path: string): TraceContext {
  const around = pathAround(path);
  return childSpan(around === undefined ? run : nodeSpan(run, around), spanIdOf(run, path));
}

/** The path of the node in which a node ran; undefined for a node of the flow itself. */
function pathAround(path: string): string | undefined {
  const end = path.lastIndexOf('/');
  return end < 0 ? undefined : path.slice(0, end).replace(/\[\d+\]$/, '');
}

function spanIdOf({ traceId, spanId }: TraceContext, path: string): string {
  return createHash('sha256').update(`${traceId}/${spanId}/${path}`).digest('hex').slice(0, 16);
}
