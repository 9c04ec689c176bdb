/**
 * Programs about one collection of any type: a single writer, who looks at it by every kind of list and watch. Whoever
 * writes alone knows each state, so that every look has one right answer.
 */
import fc from "fast-check";

const teams = ["red", "blue", "none"] as const;
export type Team = (typeof teams)[number];

/** Which objects are asked for. `spelling` says in which of the ways to say it. */
export interface Choice {
  readonly by: "all" | "team" | "not team" | "has team" | "no team" | "field" | "not field" | "name";
  /** Of `name`: the place of the name. */
  readonly name: number;
  readonly everywhere: boolean;
}

const listForms = ["recent", "any", "not older", "exact", "pages", "exact pages"] as const;
const shapes = ["object", "table", "metadata"] as const;

export type CollectionStep =
  | {
      readonly do: "set";
      readonly verb: "put" | "merge" | "json" | "apply";
      readonly name: number;
      readonly there: boolean;
      readonly team: Team;
    }
  | { readonly do: "delete"; readonly name: number; readonly there: boolean }
  | {
      readonly do: "list";
      readonly form: (typeof listForms)[number];
      readonly choice: Choice;
      readonly shape: (typeof shapes)[number];
      /** How many known versions ago it is asked for, where one is asked for. */
      readonly back: number;
      readonly spelling: number;
    }
  | {
      readonly do: "watch";
      readonly from: "version" | "any" | "unset";
      readonly choice: Choice;
      readonly shape: (typeof shapes)[number];
      readonly back: number;
      readonly spelling: number;
      /** At the deprecated path below `/watch/`. */
      readonly oldPath: boolean;
    };

const names = 3;
const anyName = fc.nat(names - 1);
const choiceBys = ["all", "team", "not team", "has team", "no team", "field", "not field", "name"] as const;
const anyChoice: fc.Arbitrary<Choice> = fc.record({
  by: fc.constantFrom(...choiceBys),
  name: anyName,
  everywhere: fc.boolean(),
});

const anyCollectionStep: fc.Arbitrary<CollectionStep> = fc.oneof<fc.MaybeWeightedArbitrary<CollectionStep>[]>(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("set" as const),
      verb: fc.constantFrom("put", "merge", "json", "apply"),
      name: anyName,
      there: fc.boolean(),
      team: fc.constantFrom(...teams),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("delete" as const), name: anyName, there: fc.boolean() }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("list" as const),
      form: fc.constantFrom(...listForms),
      choice: anyChoice,
      shape: fc.constantFrom("object", "object", "table", "metadata"),
      back: fc.nat(3),
      spelling: fc.nat(23),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("watch" as const),
      from: fc.constantFrom("version", "version", "any", "unset"),
      choice: anyChoice,
      shape: fc.constantFrom("object", "object", "table", "metadata"),
      back: fc.nat(3),
      spelling: fc.nat(23),
      oldPath: fc.boolean(),
    }),
  },
);

export const anyCollectionSteps: fc.Arbitrary<readonly CollectionStep[]> = fc.array(anyCollectionStep, {
  minLength: 3,
  maxLength: 14,
});

/**
 * A program in which every form of a list and every beginning of a watch meets all objects, those of a label and one by
 * its name; `place` turns everything else on, so that a few such programs meet most pairs.
 */
export function coveringCollectionSteps(place: number): readonly CollectionStep[] {
  const steps: CollectionStep[] = [];
  const verbs = ["put", "merge", "json", "apply"] as const;
  const byLabel = ["team", "field", "not team", "not field", "has team", "no team"] as const;
  let turn = place;
  const choice = (by: "all" | "label" | "name"): Choice => ({
    by: by === "label" ? (byLabel[turn % byLabel.length] as Choice["by"]) : by,
    name: turn % 2,
    everywhere: turn % 3 === 0,
  });
  const set = (name: number, there: boolean, team: Team): void => {
    steps.push({ do: "set", verb: verbs[(turn += 1) % verbs.length] as (typeof verbs)[number], name, there, team });
  };
  const list = (form: (typeof listForms)[number], by: "all" | "label" | "name"): void => {
    turn += 1;
    const shape = turn % 2 === 0 ? "object" : (shapes[(turn >> 1) % shapes.length] as (typeof shapes)[number]);
    steps.push({ do: "list", form, choice: choice(by), shape, back: 1 + (turn % 2), spelling: turn });
  };
  const watch = (from: "version" | "any" | "unset", by: "all" | "label" | "name"): void => {
    turn += 1;
    const shape = turn % 2 === 0 ? "object" : (shapes[(turn >> 1) % shapes.length] as (typeof shapes)[number]);
    const oldPath = (turn + place) % 2 === 0;
    steps.push({ do: "watch", from, choice: choice(by), shape, back: 1, spelling: turn, oldPath });
  };
  set(0, false, "red");
  set(1, false, "blue");
  list("recent", "all");
  set(0, true, "red");
  list("recent", "label");
  for (const by of ["all", "label", "name"] as const) {
    for (const from of ["version", "any", "unset"] as const) watch(from, by);
    set(1, false, by === "all" ? "red" : by === "label" ? "none" : "blue");
    list("recent", by);
    for (const form of listForms.slice(1)) list(form, by);
    if (by !== "label") steps.push({ do: "delete", name: by === "all" ? 0 : 1, there: false });
    else set(0, false, "blue");
  }
  return steps;
}
