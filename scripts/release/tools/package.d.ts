/** What publint finds in a packed npm package. */
export function lintPackage(tarball: Uint8Array): Promise<readonly unknown[]>;

/**
 * How "Are the types wrong?" resolves a package's types: a file for each way of importing it. No files if the
 * package has no types.
 */
export function checkTypes(
  tarball: Uint8Array,
): Promise<{ readonly problems: readonly unknown[]; readonly files: Readonly<Record<string, string>> }>;
