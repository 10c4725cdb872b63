import { randomBytes } from 'node:crypto';
import { writeTraceParent } from '#kit/http/trace-context';
import type { PortCall } from '../engine/ports.ts';

/** The trace headers of a run for the services that it calls. */
export function traceHeaders({ traceId }: PortCall): Readonly<Record<string, string>> {
  const parentId = randomBytes(8).toString('hex');
  return { traceparent: writeTraceParent({ traceId, parentId, flags: '00' }) };
}
