import { isVersion } from '#kube/watch/compare-versions';
import { type Kind, kinds } from '#resources/kinds';
import { presentations } from '#resources/presentation';
import { ApiRefusal } from '../api-refusal.ts';
import { parseLabelSelector } from '../label-selector.ts';
import { decodeStoredObject, type StoredObject } from '../stored-object.ts';

const defaultWatchSeconds = 300;
const maxWatchSeconds = 3_600;

/** The parameters of a list or watch (meta/v1 ListOptions). */
export type ListQuery = {
  readonly watch: boolean;
  readonly limit: number;
  readonly token: string | undefined;
  /** 0 when absent: the newest state. */
  readonly resourceVersion: number;
  readonly exactVersion: boolean;
  readonly bookmarks: boolean;
  readonly timeoutSeconds: number;
  /** Selects objects by labels and fields; absent: every object. */
  readonly matches: ((object: StoredObject) => boolean) | undefined;
};

/** Parses the parameters; unsupported parameters are refused. */
export function readListQuery(parameters: URLSearchParams, kind: Kind): ListQuery {
  const resourceVersion = parameters.get('resourceVersion') || '0';
  if (!isVersion(resourceVersion)) throw new ApiRefusal('BadRequest', 'resourceVersion is not a version');
  if (isTrue(parameters.get('sendInitialEvents')))
    throw new ApiRefusal('BadRequest', 'sendInitialEvents is not served');
  return {
    watch: isTrue(parameters.get('watch')),
    limit: readNumber(parameters, 'limit') ?? 0,
    token: parameters.get('continue') || undefined,
    resourceVersion: Number(resourceVersion),
    exactVersion: parameters.get('resourceVersionMatch') === 'Exact',
    bookmarks: isTrue(parameters.get('allowWatchBookmarks')),
    timeoutSeconds: Math.min(readNumber(parameters, 'timeoutSeconds') || defaultWatchSeconds, maxWatchSeconds),
    matches: readSelection(parameters, kind),
  };
}

function readSelection(parameters: URLSearchParams, kind: Kind): ListQuery['matches'] {
  const labels = parameters.get('labelSelector') || undefined;
  const fields = parameters.get('fieldSelector') || undefined;
  if (labels === undefined && fields === undefined) return undefined;
  const byLabels = parseLabelSelector(labels);
  const byFields = parseFieldSelector(fields, kind);
  return (object) => byLabels(object.metadata.labels) && byFields(object);
}

/** Parses a field selector: only equality, for fields of every resource and of its kind. */
function parseFieldSelector(text: string | undefined, kind: Kind): (object: StoredObject) => boolean {
  const selectable = selectableFieldsOf(kind);
  const terms = (text ?? '').split(',').filter((term) => term !== '');
  const tests = terms.map((term) => {
    const found = /^(?<field>[A-Za-z.]+)==?(?<wanted>[^=\\]*)$/.exec(term.trim())?.groups;
    const field = found?.['field'] ?? '';
    if (!selectable.includes(field)) {
      throw new ApiRefusal('BadRequest', `only ${selectable.join(', ')} can be selected, by a value`);
    }
    return (object: StoredObject) => valueAt(object, field) === found?.['wanted'];
  });
  return (object) => tests.every((test) => test(object));
}

function selectableFieldsOf(kind: Kind): readonly string[] {
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  const own = names.filter((name) => kinds[name].plural === kind.plural);
  const fields = own.flatMap((name) => presentations[name].selectableFields);
  return ['metadata.name', 'metadata.namespace', ...fields.map((path) => path.slice(1))];
}

/** Text of a field; a field that is absent is empty (Kubernetes, selectable fields of custom resources). */
function valueAt(object: StoredObject, field: string): string {
  if (field === 'metadata.name') return object.name;
  if (field === 'metadata.namespace') return object.metadata.namespace ?? '';
  let value: unknown = decodeStoredObject(object);
  for (const member of field.split('.')) value = (value as Readonly<Record<string, unknown>> | undefined)?.[member];
  return value === undefined ? '' : String(value);
}

function readNumber(parameters: URLSearchParams, name: string): number | undefined {
  const text = parameters.get(name);
  if (text === null || text === '') return undefined;
  if (!/^[0-9]{1,9}$/.test(text)) throw new ApiRefusal('BadRequest', `${name} is not a number`);
  return Number(text);
}

function isTrue(text: string | null): boolean {
  return text === 'true' || text === '1';
}
