/** Full is what the published figures are measured with; small is what fits into every run of the checks. */
export type FigureSize = 'small' | 'full';

type FigureResult =
  | {
      /** Whether the figure is what it must be. */
      readonly holds: boolean;
      /** The figure in one line. */
      readonly line: string;
    }
  | {
      /** What this machine lacks to measure it; counted, never a figure that holds. */
      readonly skipped: string;
    };

/** A measurement that a file of e2e/figures exports as `figure`. */
export type Figure = {
  readonly name: string;
  /** What is measured and what must hold. */
  readonly title: string;
  readonly run: (size: FigureSize, say: (progress: string) => void) => Promise<FigureResult>;
};
