/** `full` is the size of the published figures; `small` is the size that `.ci/run` measures. */
export type FigureSize = 'small' | 'full';

type FigureResult =
  | {
      /** Whether the measured figure is within its bounds. */
      readonly holds: boolean;
      /** The figure as one line. */
      readonly line: string;
    }
  | {
      /** The missing requirement of this machine; counted as a skip. */
      readonly skipped: string;
    };

/** A measurement that a file of e2e/figures exports as `figure`. */
export type Figure = {
  readonly name: string;
  /** The measurement and its bound, in one sentence. */
  readonly title: string;
  /** A test that the full check already runs at a small size; `.ci/run` does not repeat it. */
  readonly coveredBy?: string;
  readonly run: (size: FigureSize, say: (progress: string) => void) => Promise<FigureResult>;
};
