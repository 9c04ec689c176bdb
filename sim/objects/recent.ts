/**
 * What is remembered of the objects that were asked about last, in two halves: when the newer half is full, the older is forgotten.
 * It holds no object alive. One weak table of all there are would do the same, but with some hundred thousand entries its growth and
 * the collector's way through it took most of the time.
 */
export class Recent<Key extends object, Value> {
  private readonly countMax: number;
  private newer = new WeakMap<Key, Value>();
  private older = new WeakMap<Key, Value>();
  private count = 0;

  /** `countMax`: of a half, an integer ≥ 1. */
  constructor(countMax: number) {
    this.countMax = countMax;
  }

  get(key: Key): Value | undefined {
    const recent = this.newer.get(key);
    if (recent !== undefined) return recent;
    const value = this.older.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
    if (this.count >= this.countMax) {
      this.older = this.newer;
      this.newer = new WeakMap();
      this.count = 0;
    }
    this.newer.set(key, value);
    this.count++;
  }
}
