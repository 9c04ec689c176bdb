/** Fewer questions are answered by a search. */
export const fewAsked = 8;

/** A list that may be long and asked of often: it is looked up from then on. */
export class Texts {
  /** Read in all searches, for whoever counts. */
  searched = 0;
  private readonly list: readonly string[];
  private askedCount = 0;
  private set: ReadonlySet<string> | undefined;

  constructor(list: readonly string[] | undefined) {
    this.list = list ?? [];
  }

  get length(): number {
    return this.list.length;
  }

  has(text: string): boolean {
    if (this.set !== undefined) return this.set.has(text);
    this.searched += this.list.length;
    if (this.list.length <= fewAsked || this.askedCount++ < fewAsked) return this.list.includes(text);
    this.set = new Set(this.list);
    return this.set.has(text);
  }

  hasOrAll(text: string): boolean {
    return this.has("*") || this.has(text);
  }
}
