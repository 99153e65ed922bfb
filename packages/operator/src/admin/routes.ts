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

interface Placed<Id> {
  readonly id: Id;
  readonly method: string;
  readonly path: string;
}

/** Returns a function that finds a path below the base. */
export function createPaths<Id>(base: string, all: readonly Placed<Id>[]) {
  const places = [...Map.groupBy(all, ({ path }) => path)].map(([path, placed]) => {
    const methods = placed.flatMap(({ id, method }) =>
      (method === 'GET' ? ['GET', 'HEAD'] : [method]).map((each) => [each, id] as const),
    );
    const form = path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    return {
      byMethod: Object.fromEntries(methods),
      form: new RegExp(`^${base}${form}$`),
      parameters: path.split('{').length,
    };
  });
  // A word comes before a parameter: `find` in `/keys/find` is not an id.
  places.sort((one, other) => one.parameters - other.parameters);

  return (path: string): Match<Id> | undefined => {
    for (const { form, byMethod } of places) {
      const found = form.exec(path);
      if (found !== null) return { byMethod, encoded: { ...found.groups } };
    }
    return undefined;
  };
}

const operations = Object.entries(adminOperations) as [AdminOperationId, AdminOperation][];

/** Finds the operations of a path of the API. */
export const matchPath = createPaths(
  adminBasePath,
  operations.map(([id, { method, path }]) => ({ id, method, path: path.slice(adminBasePath.length) })),
);
