/** What a container is given, told beforehand: its variables and its arguments. Source: the fact sheet of the 1.33 agent; the API's reference on variables. */

export interface GivenObject {
  readonly kind: "ConfigMap" | "Secret";
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
}

export interface GivingProgram {
  /** Of the pod's namespace; what is not among them is not there. */
  readonly objects: readonly GivenObject[];
  readonly labels: Readonly<Record<string, string>>;
  readonly sources: readonly WholeSource[];
  readonly variables: readonly Variable[];
  readonly args: readonly string[];
  /** Of the container. */
  readonly limits: { readonly milliCpu: number; readonly memoryMi: number };
  /** A volume with some keys of an object, or with all of them. */
  readonly volume: { readonly object: string; readonly items: readonly string[] | undefined } | undefined;
}

export interface WholeSource {
  readonly object: string;
  readonly prefix: string;
  readonly isOptional: boolean;
}

export type Variable = { readonly name: string } & (
  | { readonly is: "text"; readonly value: string }
  | { readonly is: "key"; readonly object: string; readonly key: string; readonly isOptional: boolean }
  | { readonly is: "field"; readonly path: string }
  | { readonly is: "resource"; readonly resource: "limits.cpu" | "limits.memory"; readonly divisor: string }
);

/** What only the running pod tells: by the path of its field. */
export type Fields = Readonly<Record<string, string>>;

/** Values by name; or that something is missing without which the container cannot start. */
export function variablesOf(program: GivingProgram, fields: Fields): ReadonlyMap<string, string> | "waits" {
  const values = new Map<string, string>();
  for (const { object, prefix, isOptional } of program.sources) {
    const found = objectNamed(program, object);
    if (found === undefined && !isOptional) return "waits";
    for (const [key, value] of Object.entries(found?.data ?? {})) values.set(prefix + key, value);
  }
  for (const variable of program.variables) {
    const value = valueOf(program, fields, variable, values);
    if (value === "waits") return "waits";
    if (value !== undefined) values.set(variable.name, value.text);
  }
  return values;
}

const objectNamed = ({ objects }: GivingProgram, name: string): GivenObject | undefined =>
  objects.find((each) => each.name === name);

function valueOf(
  program: GivingProgram,
  fields: Fields,
  variable: Variable,
  known: ReadonlyMap<string, string>,
): { readonly text: string } | "waits" | undefined {
  switch (variable.is) {
    case "text":
      return { text: expanded(variable.value, known) };
    case "field":
      return { text: fields[variable.path] ?? "" };
    case "resource":
      return { text: String(amountOf(program, variable)) };
    case "key": {
      const value = objectNamed(program, variable.object)?.data[variable.key];
      if (value === undefined) return variable.isOptional ? undefined : "waits";
      return { text: value };
    }
  }
}

const divisors: Readonly<Record<string, number>> = { "1": 1, "1m": 0.001, "1Ki": 1024, "1Mi": 1024 ** 2 };

function amountOf({ limits }: GivingProgram, variable: Extract<Variable, { is: "resource" }>): number {
  const [amount, usual] =
    variable.resource === "limits.cpu" ? [limits.milliCpu / 1000, 1] : [limits.memoryMi * 1024 ** 2, 1];
  return Math.ceil(Math.round((amount * 1e6) / (divisors[variable.divisor] ?? usual)) / 1e6);
}

/** `$(NAME)` is the value, or stays where there is none; `$$` is one dollar that begins no reference. */
export function expanded(text: string, known: ReadonlyMap<string, string>): string {
  let out = "";
  for (let at = 0; at < text.length; at += 1) {
    const rest = text.slice(at);
    if (rest.startsWith("$$")) {
      out += "$";
      at += 1;
      continue;
    }
    const reference = /^\$\(([^)]*)\)/.exec(rest);
    if (reference === null) {
      out += text[at];
      continue;
    }
    out += known.get(reference[1] ?? "") ?? reference[0];
    at += reference[0].length - 1;
  }
  return out;
}

/** Names of files in the volume, with what is in them. Undefined: the pod waits. */
export function filesOf(program: GivingProgram): Readonly<Record<string, string>> | "waits" {
  const { volume } = program;
  if (volume === undefined) return {};
  const data = objectNamed(program, volume.object)?.data;
  if (data === undefined || volume.items?.some((key) => data[key] === undefined) === true) return "waits";
  if (volume.items === undefined) return data;
  return Object.fromEntries(volume.items.map((key) => [`as-${key}`, data[key] ?? ""]));
}
