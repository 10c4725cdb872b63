import { row, tableLines } from './bar-chart.ts';
import type { GatewayFigure, GatewayFigures, Moment } from './gateway-case.ts';
import type { Guard } from './gateway-world.ts';

const momentNames = { firstByte: 'first byte', firstText: 'first text', total: 'total' } as const;

type Shown = { readonly name: string; readonly figure: GatewayFigure; readonly moment: Moment };

/** Milliseconds that a guard may add to the first byte of a stream. */
export const firstByteLimits = { bound: 0.5, wanted: 0.15 } as const;

/** The reported times, in the order of the report. */
export function shownTimes({ figures }: GatewayFigures): readonly Shown[] {
  return figures.flatMap((figure) =>
    figure.moments.map((moment) => ({ name: `${figure.name}: ${momentNames[moment]}`, figure, moment })),
  );
}

/** The section of the report about the gateway: the latency that a guard adds, and its parts. */
export function gatewayLines(measured: GatewayFigures): readonly string[] {
  const shown = shownTimes(measured);
  const part = (name: string, of: (one: Shown) => number): string =>
    row(name, ...shown.map((one) => of(one).toFixed(2)));
  return [
    '## Gateway in front of the echo provider',
    '',
    'One connection, one call after another, milliseconds; the provider writes its streams at once. The first byte of a',
    'stream is that of a frame without text, which leaves once the request has passed. The first text leaves once a window',
    'has passed: a provider that writes slowly adds the time in which it writes 1,025 bytes, or all of a shorter answer.',
    '',
    ...tableLines(
      ['', 'unguarded', 'guarded', 'added'],
      shown.map(({ name, figure, moment }) =>
        row(
          name,
          figure.at.none[moment].toFixed(2),
          figure.at.usual[moment].toFixed(2),
          figure.whole[moment].toFixed(2),
        ),
      ),
    ),
    '### Where the added time goes',
    '',
    'The same model in turns without a guard, then with checks that a server in the place of the runtime passes unseen,',
    'then with a runtime of one pattern, then with 8 patterns and 1,000 terms. Each row is what one of these adds to the',
    'one before it: medians of the differences within a turn, so their sum is only about the whole.',
    '',
    ...tableLines(
      ['', ...shown.map(({ name }) => name)],
      [
        part('the way to a runtime and back', ({ figure, moment }) => figure.added.idle[moment]),
        part('the runtime, with one pattern', ({ figure, moment }) => figure.added['one pattern'][moment]),
        part('the other patterns and terms', ({ figure, moment }) => figure.added.usual[moment]),
        part('**the whole guard**', ({ figure, moment }) => figure.whole[moment]),
      ],
    ),
    'The way to a runtime is the largest part: one check before the request is forwarded, one for a whole answer, one for',
    'each window of a stream, each a request and a response between two idle processes. A profile of the gateway under',
    'such calls shows half of its CPU in the system call that writes to a socket and wakes the receiver.',
    'The runtime takes longer for single calls than under load (above), where one turn of its event loop serves many.',
    `What the gateway does for a whole answer beyond calls (reading request, answer and results) takes ${measured.reading.toFixed(0)} us.`,
    'Microseconds of CPU of one call, the system included:',
    '',
    ...tableLines(
      ['', ...measured.figures.flatMap(({ name }) => [`${name}: gateway`, 'runtime'])],
      (
        [
          ['no guard', 'none'],
          ['checks that pass without a look', 'idle'],
          ['a runtime of one pattern', 'one pattern'],
          ['8 patterns and 1,000 terms', 'usual'],
        ] as const satisfies readonly (readonly [string, Guard])[]
      ).map(([name, guard]) =>
        row(
          name,
          ...measured.figures.flatMap(({ cpu }) => [cpu[guard].gateway.toFixed(0), cpu[guard].judge.toFixed(0)]),
        ),
      ),
    ),
  ];
}
