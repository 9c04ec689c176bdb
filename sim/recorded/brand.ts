/** Texts of the wire between the neutral brand, which the recordings speak, and a dialect. */
import type { Dialect } from "../../wire/dialect.ts";

const namespaces = ["system", "node-lease", "public"];

/** Requests: groups take the group suffix, everything else (labels, finalizers) the label suffix. */
export function intoDialect(dialect: Dialect, text: string): string {
  const { systemNamespaces } = dialect;
  return text
    .replaceAll("application/vnd.svc.protobuf", dialect.protobufMediaType)
    .replaceAll("x-svc-", dialect.extensionPrefix)
    .replace(/\bsvc-(system|node-lease|public)\b/g, (_, which: string) =>
      which === "node-lease" ? systemNamespaces.nodeLease : systemNamespaces[which as "system" | "public"],
    )
    .replace(/\b([a-z]+)\.svc\.io\b/g, `$1.${dialect.groupSuffix}`)
    .replace(/(?<!\.)\bsvc\.io\b/g, dialect.labelSuffix);
}

/** Answers: both suffixes are one in the neutral brand. */
export function fromDialect(dialect: Dialect, text: string): string {
  if (dialect.name === "svc") return text;
  return [
    [dialect.protobufMediaType, "application/vnd.svc.protobuf"] as const,
    [dialect.extensionPrefix, "x-svc-"] as const,
    [`${dialect.systemNamespaces.system.split("-", 1)[0]}-apiserver`, "svc-apiserver"] as const,
    ...Object.values(dialect.systemNamespaces).map((name, index) => [name, `svc-${namespaces[index]}`] as const),
    [dialect.groupSuffix, "svc.io"] as const,
    [dialect.labelSuffix, "svc.io"] as const,
  ].reduce((result, [from, to]) => result.replaceAll(from, to), text);
}
