import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

type MetricOptions<L extends LabelSpecs> = { readonly name: string; readonly help: string; readonly labels: L };
type CounterMetric<L extends LabelSpecs> = {
  add(labels: LabelValues<L>, value?: number): void;
  /** A metric series for frequent increments: its sum is added to the metric at each scrape. */
  series(labels: LabelValues<L>): { add(value?: number): void };
};
type GaugeMetric<L extends LabelSpecs> = {
  set(labels: LabelValues<L>, value: number): void;
  add(labels: LabelValues<L>, value: number): void;
  /** Returns one series of the metric, for frequent changes. */
  series(labels: LabelValues<L>): { add(value: number): void };
};
type HistogramMetric<L extends LabelSpecs> = {
  observe(labels: LabelValues<L>, value: number): void;
  series(labels: LabelValues<L>): { observe(value: number): void };
};

export type MetricRow = {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly { readonly name: string; readonly values: string }[];
};

/**
 * The metrics of one process. Every label is declared with a closed list of values or a maximum number of values; any
 * other value is counted as `other`, so that the number of series is bounded.
 */
export type Metrics = {
  counter<const L extends LabelSpecs>(options: MetricOptions<L>): CounterMetric<L>;
  gauge<const L extends LabelSpecs>(options: MetricOptions<L>): GaugeMetric<L>;
  /** `buckets`: upper bounds, ascending, in the unit of the name. */
  histogram<const L extends LabelSpecs>(
    options: MetricOptions<L> & { readonly buckets: readonly number[] },
  ): HistogramMetric<L>;
  /** The text of a scrape, in the format of `contentType`. */
  exposition(): Promise<string>;
  readonly contentType: string;
  /** The declared metrics, for the generated table; without the default metrics of Node. */
  describeMetrics(): readonly MetricRow[];
};

/** Creates a registry with the default metrics of the process; every series has the label `service`. */
export function createMetrics({ service }: { readonly service: string }): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  const rows: MetricRow[] = [];

  function declare<L extends LabelSpecs>(type: MetricRow['type'], { name, help, labels }: MetricOptions<L>) {
    rows.push({ name, type, help, labels: Object.entries(labels).map(describeLabel) });
    return { name, help, labelNames: Object.keys(labels), registers: [registry] };
  }

  return {
    counter(options) {
      const pending = createPendingSums((labels, sum) => metric.inc(labels, sum));
      const metric: Counter = new Counter({ ...declare('counter', options), collect: pending.flush });
      const series = keepSeries(options.labels, pending.series);
      return { add: (labels, value = 1) => series(labels).add(value), series };
    },
    gauge(options) {
      const guard = createLabelGuard(options.labels);
      const pending = createPendingSums((labels, sum) => metric.inc(labels, sum));
      const metric: Gauge = new Gauge({ ...declare('gauge', options), collect: pending.flush });
      return {
        set: (labels, value) => metric.set(guard(labels), value),
        add: (labels, value) => metric.inc(guard(labels), value),
        series: (labels) => pending.series(guard(labels)),
      };
    },
    histogram(options) {
      const guard = createLabelGuard(options.labels);
      const metric = new Histogram({ ...declare('histogram', options), buckets: [...options.buckets] });
      return {
        observe: (labels, value) => metric.observe(guard(labels), value),
        series: (labels) => metric.labels(guard(labels)),
      };
    },
    exposition: () => registry.metrics(),
    contentType: registry.contentType,
    describeMetrics: () => rows,
  };
}

function describeLabel([name, spec]: [string, LabelSpecs[string]]): { name: string; values: string } {
  if ('bounded' in spec) return { name, values: `at most ${spec.bounded} values, then ${OTHER}` };
  return { name, values: [...spec, OTHER].join(', ') };
}

/** The allowed values of a label: a closed list, or the first `bounded` distinct values. */
type LabelSpec = readonly string[] | { readonly bounded: number };
type LabelSpecs = Readonly<Record<string, LabelSpec>>;
type LabelValues<L extends LabelSpecs> = {
  readonly [K in keyof L]: L[K] extends readonly (infer V)[] ? V : string;
};

/** Replaces every value that is not allowed. */
const OTHER = 'other';

/** Returns a function that replaces label values that are not declared. */
function createLabelGuard<L extends LabelSpecs>(specs: L): (values: LabelValues<L>) => Record<string, string> {
  const guards = Object.entries(specs).map(([name, spec]) => ({ name, hold: createValueGuard(spec) }));
  return (values) => Object.fromEntries(guards.map(({ name, hold }) => [name, hold(String(values[name]))]));
}

/** Opens the series of each combination of allowed values once: finding it again costs less than a new set of labels. */
function keepSeries<L extends LabelSpecs, S>(
  specs: L,
  open: (labels: Record<string, string>) => S,
): (values: LabelValues<L>) => S {
  const guards = Object.entries(specs).map(([name, spec]) => ({ name, hold: createValueGuard(spec) }));
  const known = new Map<string, S>();
  return (values) => {
    const held = guards.map(({ name, hold }) => hold(String(values[name])));
    const key = held.join('\n');
    const found = known.get(key);
    if (found !== undefined) return found;
    const opened = open(Object.fromEntries(guards.map(({ name }, index) => [name, held[index] ?? OTHER])));
    known.set(key, opened);
    return opened;
  };
}

function createValueGuard(spec: LabelSpec): (value: string) => string {
  if (!('bounded' in spec)) {
    const closed = new Set(spec);
    return (value) => (closed.has(value) ? value : OTHER);
  }
  const seen = new Set<string>();
  return (value) => {
    if (seen.has(value)) return value;
    if (seen.size >= spec.bounded) return OTHER;
    seen.add(value);
    return value;
  };
}

type PendingSums = {
  series(labels: Record<string, string>): { add(value?: number): void };
  /** Passes the sums since the last flush to `take`. */
  flush(): void;
};

/** Sums that are added to the metric at a flush only, so that an increment costs one addition. */
function createPendingSums(take: (labels: Record<string, string>, sum: number) => void): PendingSums {
  const all: { readonly labels: Record<string, string>; sum: number; isChanged: boolean }[] = [];
  return {
    series(labels) {
      const own = { labels, sum: 0, isChanged: false };
      all.push(own);
      return {
        add(value = 1) {
          own.sum += value;
          own.isChanged = true;
        },
      };
    },
    flush() {
      for (const own of all) {
        // A sum of 0 is added, too, so that a gauge that rose and fell is shown.
        if (!own.isChanged) continue;
        take(own.labels, own.sum);
        own.sum = 0;
        own.isChanged = false;
      }
    },
  };
}
