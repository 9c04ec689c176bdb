/** Variables of processes: few are a container's own, and thousands of containers are told the same of services. */
import type { KeyValue } from "../../../wire/cri-messages.ts";
import { LayeredVariables } from "../../../wire/cri-variables.ts";
import { Recent } from "../../objects/recent.ts";
import { toByteText } from "../file-tree.ts";

/** Names and values, as bytes. A `Map` is one. */
export interface Environment extends Iterable<[name: string, value: string]> {
  get(name: string): string | undefined;
}

/**
 * What a container's processes begin with: first what it has by default, then what it was created with, which goes before a default of
 * the same name. Of variables that containers share there is one table.
 */
export function containerEnvironment(
  defaults: ReadonlyMap<string, string>,
  variables: Iterable<KeyValue> = [],
): Environment {
  const isLayered = variables instanceof LayeredVariables;
  const own = mapOf(isLayered ? variables.own : []);
  const shared = sharedMap(isLayered ? variables.shared : variables);
  const given = (name: string): string | undefined => own.get(name) ?? shared.get(name);
  return {
    get: (name) => given(name) ?? defaults.get(name),
    *[Symbol.iterator]() {
      for (const [name, value] of defaults) yield [name, given(name) ?? value];
      for (const variable of own) if (!defaults.has(variable[0])) yield variable;
      for (const variable of shared) if (!defaults.has(variable[0]) && !own.has(variable[0])) yield variable;
    },
  };
}

function mapOf(variables: Iterable<KeyValue>): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (const { key = "", value = "" } of variables) map.set(key, toByteText(value));
  return map;
}

const known = new Recent<Iterable<KeyValue>, ReadonlyMap<string, string>>(1000);

function sharedMap(variables: Iterable<KeyValue>): ReadonlyMap<string, string> {
  const before = known.get(variables);
  if (before !== undefined) return before;
  const made = mapOf(variables);
  known.set(variables, made);
  return made;
}
