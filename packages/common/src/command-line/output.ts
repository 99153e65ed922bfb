/** What a command prints: results to standard output, everything else to standard error. */
export interface Output {
  /** Prints a result, or a part of one, and a line end. */
  answer(text: string): void;
  /** Prints a part of a result that is too long for memory; resolves when there is room for more. */
  write(lines: string): Promise<void>;
  /** Prints a remark, a warning or an error on standard error. */
  remark(text: string): void;
}
