/**
 * What a container's process is given of words and variables, with references to variables, `$(NAME)`, in them.
 * Source: the documented rules of references; the kernel's limit of what a process is started with.
 */

/** A quarter of the stack that a process has by default, in characters. More is what a kernel answers with E2BIG. */
export const wordsMax = 2 * 1024 * 1024;

/** The kernel counts the pointer to each. */
const pointerBytes = 8;

/** Of `NAME=value`, as a process has it. */
export const entryLength = (name: string, value: string): number => name.length + 1 + value.length;

/** What references to variables are replaced by. */
export interface Values {
  get(name: string): string | undefined;
}

/** Counts what one container's process is given, so that a few short texts that name each other cannot become gigabytes. */
export class ProcessWords {
  private left = wordsMax;

  get isTooLong(): boolean {
    return this.left < 0;
  }

  /** Takes note of a text of that length, or of so many together; of one that goes by a negative length. */
  count(length: number, texts: number = Math.sign(length)): void {
    this.left -= length + texts * pointerBytes;
  }

  /** The text with its references replaced, and counted. */
  expand(text: string, values: Values): string {
    const expanded = this.expanded(text, values);
    this.count(expanded.length);
    return expanded;
  }

  /**
   * The text with its references replaced: `$(NAME)` by a value, where there is one, and `$$` by `$`. Once all is too long,
   * nothing more is put together, and what is returned is of no use.
   */
  expanded(text: string, values: Values): string {
    if (!text.includes("$")) return text;
    const parts: string[] = [];
    let left = this.left - text.length;
    let from = 0; // what is before is among the parts
    const lastClose = text.lastIndexOf(")");
    for (let at = text.indexOf("$"); at >= 0 && left >= 0; at = text.indexOf("$", Math.max(from, at + 1))) {
      const next = text[at + 1];
      if (next === "$") {
        parts.push(text.slice(from, at + 1));
        from = at + 2;
      } else if (next === "(" && at < lastClose) {
        const end = text.indexOf(")", at + 2);
        const value = values.get(text.slice(at + 2, end));
        const kept = value === undefined ? end + 1 : at;
        parts.push(text.slice(from, kept), value ?? "");
        left -= value?.length ?? 0;
        from = end + 1;
      }
    }
    if (left < 0) this.left = left;
    return left < 0 ? "" : parts.join("") + text.slice(from);
  }
}

/** Why a container is not made whose words are too long. */
export const tooLong = (container: string): string =>
  `argument list too long: words and variables of container ${JSON.stringify(container)} come to more than ${wordsMax} characters`;
