/**
 * How planted bugs take their place: some decide otherwise, others stand around a part that is right. What is right knows
 * nothing of them, and where none may show there is nothing but what is right.
 */

/** Which bugs show; a rare one is drawn each time that it is asked for. */
export type Switches<Name extends string> = Readonly<Partial<Record<Name, boolean>>>;

/** By its name, what a bug decides, given what is decided without it. */
export type DecisionBugs<Name extends string, Law> = Readonly<Partial<Record<Name, (law: Law) => Partial<Law>>>>;

/** By its name, what a bug puts around a part. It asks `shows` whenever it may show. */
export type WrapperBugs<Name extends string, Part> = Readonly<
  Partial<Record<Name, (inner: Part, shows: () => boolean) => Part>>
>;

/** Of whoever has such bugs, asked at each decision: the law with those that show now, and the law itself without any. */
export function decisionsWith<Name extends string, Law extends object>(
  law: Law,
  rows: DecisionBugs<Name, Law>,
): (bugs: Switches<Name>) => () => Law {
  const all = named(rows);
  return (bugs) => () => {
    let shown = law;
    for (const [name, bug] of all) if (bugs[name] === true) shown = { ...shown, ...bug(shown) };
    return shown;
  };
}

/** The part with what the planted bugs put around it, and the part itself where none may show. */
export function wrappedWith<Name extends string, Part>(
  part: Part,
  rows: WrapperBugs<Name, Part>,
  bugs: Switches<Name>,
): Part {
  return named(rows)
    .filter(([name]) => mayShow(bugs, name))
    .reduce((inner, [name, bug]) => bug(inner, () => bugs[name] === true), part);
}

function named<Name extends string, Bug>(rows: Readonly<Partial<Record<Name, Bug>>>): readonly [Name, Bug][] {
  return Object.entries(rows) as [Name, Bug][];
}

/** Nothing is drawn for it. */
function mayShow<Name extends string>(bugs: Switches<Name>, name: Name): boolean {
  const { get, value } = Object.getOwnPropertyDescriptor(bugs, name) ?? {};
  return get !== undefined || value === true;
}
