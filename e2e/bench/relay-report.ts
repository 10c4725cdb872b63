import { row, tableLines } from './bar-chart.ts';
import type { RelayFigure } from './relay-case.ts';

/** The section of the report about the throughput of a gateway: its cost compared with a relay, and the cost of a guard. */
export function relayLines(figures: readonly RelayFigure[]): readonly string[] {
  return [
    '## Throughput of a gateway',
    '',
    'Calls a second through a bare relay of Node, through the gateway without a guard, and with one of 8 patterns and 1,000',
    'terms, in turns. Provider, relay, gateway, runtime and client share the cores, and each of them is one process, so that',
    'the ratios are those of whole chains. A message has 1 KiB; a guarded call has two checks, a stream one for each window.',
    'Bytes that the relay copies are parsed by the gateway, which meters, renames and judges them.',
    '',
    ...tableLines(
      ['answer', 'callers', 'relay', 'unguarded', 'guarded', 'unguarded to relay', 'guarded to unguarded'],
      figures.map(({ answer, callers, perSecond, unguardedToRelay, guardedToUnguarded }) =>
        row(
          answer,
          String(callers),
          perSecond.relay.toFixed(0),
          perSecond.unguarded.toFixed(0),
          perSecond.guarded.toFixed(0),
          unguardedToRelay.toFixed(2),
          guardedToUnguarded.toFixed(2),
        ),
      ),
    ),
  ];
}
