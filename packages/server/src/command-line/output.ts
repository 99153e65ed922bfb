/** Where a command speaks: answers to standard output, everything else to standard error. */
export interface Output {
  answer(text: string): void;
  /** Lines of an answer that is too long to be held: resolves when there is room for more. */
  write(lines: string): Promise<void>;
  remark(text: string): void;
}
