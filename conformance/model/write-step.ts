/** Which version a write names: the newest that any writer knows, one before that, or none. */
export type Base = "current" | "stale" | "none";

/** One write of a program. Data is a value of its own in every write, so that no two writes look alike. */
export type WriteStep = (
  | { readonly do: "create"; readonly name: string; readonly team: "red" | "blue" | "none" }
  | { readonly do: "put"; readonly name: string; readonly team: "red" | "blue" | "none"; readonly base: Base }
  | { readonly do: "merge-patch"; readonly name: string; readonly team: "red" | "blue" | "none"; readonly base: Base }
  | { readonly do: "json-patch"; readonly name: string }
  | { readonly do: "delete"; readonly name: string }
  | { readonly do: "get"; readonly name: string }
) & {
  /** Go away right after sending. */
  readonly cut: boolean;
};
