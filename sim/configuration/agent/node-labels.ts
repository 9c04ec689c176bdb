/**
 * Labels that --node-labels may set: any, but in the service's own namespaces only a few.
 * Source: document 3, Options, --node-labels; the fact sheet of the 1.33 agent, registration.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import { labelValueErrors, qualifiedNameErrors } from "../../../wire/names.ts";

export function nodeLabelProblem(labels: Readonly<Record<string, string>>, dialect: Dialect): string | undefined {
  const { labelSuffix, groupSuffix } = dialect;
  const allowed = allowedLabels(labelSuffix);
  const prefixes = [`${dialect.name === "svc" ? "nodeagent" : "kubelet"}.${labelSuffix}`, `node.${labelSuffix}`];
  const isWithin = (namespace: string, domain: string): boolean =>
    namespace === domain || namespace.endsWith(`.${domain}`);
  const unknown = Object.keys(labels).filter((key) => {
    const slash = key.indexOf("/");
    const namespace = slash < 0 ? "" : key.slice(0, slash);
    const isOwn = isWithin(namespace, labelSuffix) || isWithin(namespace, groupSuffix);
    return isOwn && !allowed.includes(key) && !prefixes.some((prefix) => isWithin(namespace, prefix));
  });
  if (unknown.length > 0) {
    return `unknown '${labelSuffix}' or '${groupSuffix}' labels specified with --node-labels: [${unknown.toSorted().join(", ")}]\n--node-labels in the '${labelSuffix}' namespace must begin with an allowed prefix (${prefixes.join(", ")}) or be in the specifically allowed set (${allowed.join(", ")})`;
  }
  const wrong = Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedNameErrors(key).map((why) => `'${key}' - ${why}`),
    ...labelValueErrors(value).map((why) => `'${value}' - ${why}`),
  ]);
  return wrong.length === 0 ? undefined : `invalid node labels: ${wrong.join("; ")} (--node-labels)`;
}

function allowedLabels(suffix: string): readonly string[] {
  return [
    `beta.${suffix}/arch`,
    `beta.${suffix}/instance-type`,
    `beta.${suffix}/os`,
    `failure-domain.beta.${suffix}/region`,
    `failure-domain.beta.${suffix}/zone`,
    `${suffix}/arch`,
    `${suffix}/hostname`,
    `${suffix}/os`,
    `node.${suffix}/instance-type`,
    `topology.${suffix}/region`,
    `topology.${suffix}/zone`,
  ];
}
