import type { Kind } from '#resources/kinds';
import { CliError } from '../errors/cli-error.ts';
import { describeError } from '../errors/describe-error.ts';
import type { ListCommandOptions } from '../options/list-options.ts';
import { paintAlarms } from '../output/colour.ts';
import { type Format, isForPeople, writeValue } from '../output/format.ts';
import { resourceRows } from '../output/resource-table.ts';
import { alignedRow, widthsOf, writeText } from '../output/write.ts';
import type { OpenedResources } from '../resources/resource-source.ts';
import { readSelected } from '../selection/read-selected.ts';
import type { Selection } from '../selection/select.ts';
import { untilInterrupted } from './interruption.ts';
import { type ResourceChange, watchResources } from './watch-resources.ts';

type WatchView = ListCommandOptions & { readonly format: Format };
type Show = (changes: readonly ResourceChange[]) => void;

/**
 * Shows the selected resources, then every change, until Ctrl-C. A broken connection is reported on standard error and
 * reopened.
 * @throws CliError usage for several kinds, not_found for a name that does not exist at the beginning
 */
export async function showChanges(resources: OpenedResources, selection: Selection, view: WatchView): Promise<void> {
  const { kind, names } = watchedKind(selection);
  if (names !== undefined) await readSelected(resources, selection);
  using interruption = untilInterrupted();
  const show = isForPeople(view.format) ? showRows(kind, view) : showValues(view.format);
  const changes = watchResources({
    client: resources.client,
    kind,
    selector: view.selector,
    signal: interruption.signal,
    onBroken: async (error) => {
      const { message } = describeError((await resources.explain(error)) ?? error);
      process.stderr.write(`The watch was interrupted and is opened again: ${message}\n`);
    },
  });
  for await (const batch of changes) {
    show(names === undefined ? batch : batch.filter(({ object }) => names.has(object.metadata.name)));
  }
}

function watchedKind(selection: Selection): { readonly kind: Kind; readonly names: ReadonlySet<string> | undefined } {
  const kinds = selection.by === 'kind' ? selection.kinds : selection.targets.map(({ kind }) => kind);
  const [kind, ...others] = [...new Set(kinds)];
  if (kind === undefined || others.length > 0) {
    throw new CliError('usage', '--watch shows one kind: run one command for each kind.');
  }
  return {
    kind,
    names: selection.by === 'name' ? new Set(selection.targets.map(({ name }) => name)) : undefined,
  };
}

/** Rows keep the column widths of the first table; the age column of a deleted resource shows the deletion. */
function showRows(kind: Kind, { headers, format, showLabels, allNamespaces }: WatchView): Show {
  let widths: readonly number[] | undefined;
  return (changes) => {
    const view = {
      isWide: format === 'wide',
      showsLabels: showLabels === true,
      showsNamespaces: allNamespaces === true,
      now: new Date(),
    };
    const { header, rows } = resourceRows(
      kind,
      changes.map(({ object }) => object),
      view,
    );
    const age = header.indexOf('AGE');
    const shown = rows.map((row, at) => (changes[at]?.is === 'gone' ? row.with(age, 'deleted') : row));
    const isFirst = widths === undefined;
    widths ??= widthsOf([header, ...shown]);
    const lines = isFirst && headers ? [header, ...shown] : shown;
    for (const line of lines) writeText(paintAlarms(alignedRow(line, widths)));
  };
}

/** Writes each resource as one document: JSON objects one after another, or YAML documents. */
function showValues(format: Exclude<Format, 'text' | 'wide'>): Show {
  let isFirst = true;
  return (changes) => {
    for (const { object } of changes) {
      if (format === 'yaml' && !isFirst) writeText('---');
      isFirst = false;
      writeValue(format, object);
    }
  };
}
