/** Finds the operations of a path, such as `/partners/{id}`. */
import {
  type AdminOperationId,
  adminBasePath,
  adminOperations,
} from '@partner-network/contract/admin/operations';

/** The operations of a path by method, and the texts of its parameters, still percent-encoded. */
export interface Match {
  readonly byMethod: Readonly<Record<string, AdminOperationId>>;
  readonly encoded: Readonly<Record<string, string>>;
}

interface Place {
  readonly words: Map<string, Place>;
  parameter?: { readonly name: string; readonly place: Place };
  readonly byMethod: Record<string, AdminOperationId>;
}

const newPlace = (): Place => ({ words: new Map(), byMethod: {} });

const root = newPlace();
for (const [id, { method, path }] of Object.entries(adminOperations)) {
  let place = root;
  for (const segment of path.split('/').slice(1)) place = placeBelow(place, segment);
  place.byMethod[method] = id as AdminOperationId;
  if (method === 'GET') place.byMethod.HEAD = id as AdminOperationId;
}

function placeBelow(place: Place, segment: string): Place {
  const name = /^\{(\w+)\}$/.exec(segment)?.[1];
  if (name !== undefined) {
    place.parameter ??= { name, place: newPlace() };
    return place.parameter.place;
  }
  const found = place.words.get(segment) ?? newPlace();
  place.words.set(segment, found);
  return found;
}

/** A word comes before a parameter: `find` in `/keys/find` is not an id. */
export function matchPath(path: string): Match | undefined {
  if (!path.startsWith(`${adminBasePath}/`)) return undefined;
  const encoded: Record<string, string> = {};
  let place: Place | undefined = root;
  for (const segment of path.slice(adminBasePath.length + 1).split('/')) {
    const word: Place | undefined = place.words.get(segment);
    const { parameter }: Place = place;
    if (word === undefined && parameter !== undefined && segment !== '') encoded[parameter.name] = segment;
    place = word ?? (segment === '' ? undefined : parameter?.place);
    if (place === undefined) return undefined;
  }
  return Object.keys(place.byMethod).length === 0 ? undefined : { byMethod: place.byMethod, encoded };
}
