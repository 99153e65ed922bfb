/** Finds what answers a path, such as `/partners/{id}`. */
import {
  type AdminOperation,
  type AdminOperationId,
  adminBasePath,
  adminOperations,
} from '@partner-network/contract/admin/operations';

/** What answers a path, by method. */
export type Match<Id = AdminOperationId> = Readonly<Record<string, Place<Id>>>;

interface Place<Id> {
  readonly id: Id;
  /** The texts of the parameters, still percent-encoded. */
  readonly encoded: Readonly<Record<string, string>>;
}

/** Returns a function that finds a path below the base. */
export function createPaths<Id>(
  base: string,
  all: readonly { readonly id: Id; readonly method: string; readonly path: string }[],
) {
  const places = all.map(({ id, method, path }) => {
    const form = path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    const methods = method === 'GET' ? ['GET', 'HEAD'] : [method];
    return { id, methods, form: new RegExp(`^${base}${form}$`), parameters: path.split('{').length };
  });
  // A word comes before a parameter: in `POST /keys/find`, `find` is not an id.
  places.sort((one, other) => one.parameters - other.parameters);

  return (path: string): Match<Id> | undefined => {
    const byMethod: Record<string, Place<Id>> = {};
    for (const { id, methods, form } of places) {
      const found = form.exec(path);
      if (found === null) continue;
      for (const method of methods) byMethod[method] ??= { id, encoded: { ...found.groups } };
    }
    return Object.keys(byMethod).length === 0 ? undefined : byMethod;
  };
}

const operations = Object.entries(adminOperations) as [AdminOperationId, AdminOperation][];

/** Finds the operations of a path of the API. */
export const matchPath = createPaths(
  adminBasePath,
  operations.map(([id, { method, path }]) => ({ id, method, path: path.slice(adminBasePath.length) })),
);
