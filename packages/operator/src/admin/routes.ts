/** Finds what answers a path, such as `/partners/{id}`. */
import {
  type AdminOperation,
  type AdminOperationId,
  adminBasePath,
  adminOperations,
} from '@partner-network/contract/admin/operations';

/** What answers a path by method, and the texts of its parameters, still percent-encoded. */
export interface Match<Id = AdminOperationId> {
  readonly byMethod: Readonly<Record<string, Id>>;
  readonly encoded: Readonly<Record<string, string>>;
}

interface Place<Id> {
  readonly words: Map<string, Place<Id>>;
  parameter?: { readonly name: string; readonly place: Place<Id> };
  readonly byMethod: Record<string, Id>;
}

interface Placed<Id> {
  readonly id: Id;
  readonly method: string;
  readonly path: string;
}

function newPlace<Id>(): Place<Id> {
  return { words: new Map(), byMethod: {} };
}

/** Returns a function that finds a path below the base. */
export function createPaths<Id>(base: string, all: readonly Placed<Id>[]) {
  const root = newPlace<Id>();
  for (const { id, method, path } of all) {
    let place = root;
    for (const segment of path.split('/').slice(1)) place = placeBelow(place, segment);
    place.byMethod[method] = id;
    if (method === 'GET') place.byMethod.HEAD = id;
  }

  /** A word comes before a parameter: `find` in `/keys/find` is not an id. */
  return (path: string): Match<Id> | undefined => {
    if (!path.startsWith(`${base}/`)) return undefined;
    const encoded: Record<string, string> = {};
    let place: Place<Id> | undefined = root;
    for (const segment of path.slice(base.length + 1).split('/')) {
      const word: Place<Id> | undefined = place.words.get(segment);
      const { parameter }: Place<Id> = place;
      if (word === undefined && parameter !== undefined && segment !== '') encoded[parameter.name] = segment;
      place = word ?? (segment === '' ? undefined : parameter?.place);
      if (place === undefined) return undefined;
    }
    return Object.keys(place.byMethod).length === 0 ? undefined : { byMethod: place.byMethod, encoded };
  };
}

function placeBelow<Id>(place: Place<Id>, segment: string): Place<Id> {
  const name = /^\{(\w+)\}$/.exec(segment)?.[1];
  if (name !== undefined) {
    place.parameter ??= { name, place: newPlace() };
    return place.parameter.place;
  }
  const found = place.words.get(segment) ?? newPlace<Id>();
  place.words.set(segment, found);
  return found;
}

const operations = Object.entries(adminOperations) as [AdminOperationId, AdminOperation][];

/** Finds the operations of a path of the API. */
export const matchPath = createPaths(
  adminBasePath,
  operations.map(([id, { method, path }]) => ({ id, method, path: path.slice(adminBasePath.length) })),
);
