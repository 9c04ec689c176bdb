import type { Answer } from "../../client/exchange.ts";
import { DiscoveryWalk, goesOnNaming, servedTypes, type ServedType } from "../../client/discovery.ts";
import { reasonOf, shownAnswer } from "../../client/status-document.ts";
import { isJsonObject } from "../../client/types.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Every type that discovery names is at the path that its group, version, scope and name make: its collection is a
 * list of its kind, and the name of no object below it is answered 404. One run says all. A type that these
 * credentials may not read, or that is served by another server which is away, is passed over.
 */
export const typesAreFoundAtTheirPaths = defineCheck({
  id: "types-are-found-at-their-paths",
  area: "paths",
  property: "Each type has its collection and its objects where its group, version and scope put them.",
  requirements: ["paths.prefixes", "paths.cluster-scoped", "paths.namespaced"],
  features: ["namespaces"],
  async run(attempt) {
    const walk = new DiscoveryWalk(attempt.client);
    for (const type of walk.through(await servedTypes(attempt.client, walk))) {
      if (type.name.includes("/")) continue;
      if (type.verbs.has("list")) await judgeCollection(attempt, type);
      if (type.verbs.has("get")) await judgeAbsent(attempt, type);
    }
  },
});

async function judgeCollection(attempt: Attempt, type: ServedType): Promise<void> {
  const path = await collectionPath(attempt, type);
  const answer = await attempt.client.request("GET", path, { query: { limit: 1 } });
  if (isOutOfReach(answer)) return;
  const kind = isJsonObject(answer.json) ? answer.json["kind"] : undefined;
  const apiVersion = isJsonObject(answer.json) ? answer.json["apiVersion"] : undefined;
  const actual = `${answer.status} ${String(kind)} of ${String(apiVersion)}`;
  const found = answer.status === 200 && kind === `${type.kind}List`;
  if (!found && (await hasGone(attempt, type))) return;
  attempt.expect(scopeOf(type), found, `${path}: 200 ${type.kind}List`, actual);
  attempt.expect("paths.prefixes", apiVersion === type.groupVersion, `${path}: ${type.groupVersion}`, actual);
}

async function judgeAbsent(attempt: Attempt, type: ServedType): Promise<void> {
  const path = `${await collectionPath(attempt, type)}/touchstone-no-such-object`;
  const answer = await attempt.client.request("GET", path);
  if (isOutOfReach(answer)) return;
  // A path that is not served may be 404 as well, but not with a Status about an object.
  const isStatus = isJsonObject(answer.json) && answer.json["kind"] === "Status";
  const isAbout = isStatus && ["", "NotFound"].includes(reasonOf(answer));
  if (!isAbout && (await hasGone(attempt, type))) return;
  attempt.expect(scopeOf(type), answer.status === 404 && isAbout, `${path}: 404 NotFound`, shownAnswer(answer));
}

const hasGone = async ({ client }: Attempt, { groupVersion, name }: ServedType): Promise<boolean> =>
  !(await goesOnNaming(client, groupVersion, name));

const scopeOf = ({ namespaced }: ServedType): string => (namespaced ? "paths.namespaced" : "paths.cluster-scoped");

async function collectionPath(attempt: Attempt, { prefix, name, namespaced }: ServedType): Promise<string> {
  return namespaced ? `${prefix}/namespaces/${await attempt.target.namespace()}/${name}` : `${prefix}/${name}`;
}

const isOutOfReach = ({ status }: Answer): boolean => [401, 403, 503].includes(status);
