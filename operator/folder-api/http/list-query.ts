import { isVersion } from '#kube/compare-versions';
import { ApiRefusal } from '../api-refusal.ts';
import { parseLabelSelector } from '../label-selector.ts';
import type { StoredObject } from '../stored-object.ts';

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
  /** Absent: every object. */
  readonly matches: ((object: StoredObject) => boolean) | undefined;
};

/** Reads the parameters; one that cannot be honoured is refused rather than ignored. */
export function readListQuery(parameters: URLSearchParams): ListQuery {
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
    matches: readSelection(parameters),
  };
}

function readSelection(parameters: URLSearchParams): ListQuery['matches'] {
  const labels = parameters.get('labelSelector') || undefined;
  const fields = parameters.get('fieldSelector') || undefined;
  if (labels === undefined && fields === undefined) return undefined;
  const byLabels = parseLabelSelector(labels);
  const byFields = parseFieldSelector(fields);
  return (object) => byLabels(object.metadata.labels) && byFields(object);
}

/** Only the fields that every resource can be selected by. */
function parseFieldSelector(text: string | undefined): (object: StoredObject) => boolean {
  const terms = (text ?? '').split(',').filter((term) => term !== '');
  const tests = terms.map((term) => {
    const found = /^metadata\.(name|namespace)==?([a-z0-9.-]*)$/.exec(term.trim());
    if (found === null) throw new ApiRefusal('BadRequest', 'only metadata.name and metadata.namespace can be selected');
    const [, field, wanted] = found;
    return (object: StoredObject) => (field === 'name' ? object.name : object.metadata.namespace) === wanted;
  });
  return (object) => tests.every((test) => test(object));
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
