import { dns1123SubdomainErrors } from "../../../wire/names.ts";
import { configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import { objectOf } from "../../client/collection.ts";
import { isJsonObject, type JsonObject } from "../../client/types.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * An object is called as its request says: by its name, before any prefix; by the name and the namespace of the path,
 * which the body cannot gainsay. A request that says no name is refused. Names are held by kind. One run says all.
 */
export const namesComeFromTheirRequest = defineCheck({
  id: "names-come-from-their-request",
  area: "names",
  property: "An object has the name that its request gives it, and no request gives it two.",
  requirements: [
    "names.required",
    "names.explicit-wins",
    "names.mismatch",
    "names.generated-length",
    "names.kinds-apart",
    "names.cluster-scope",
  ],
  features: ["configmaps", "podtemplates", "namespaces"],
  async run(attempt) {
    const configMaps = await attempt.target.collection("configmaps");
    const create = (metadata: JsonObject) => configMaps.create({ ...configMap(""), metadata });

    refused(attempt, "names.required", "a create without a name", await create({}), 422);

    const both = objectOf(await create({ name: "a", generateName: "b-" }), "names.explicit-wins");
    attempt.expect("names.explicit-wins", both.metadata.name === "a", "the name a", both.metadata.name);

    const { name } = objectOf(await create({ generateName: `${"p".repeat(200)}-` }), "names.generated-length").metadata;
    attempt.expect(
      "names.generated-length",
      dns1123SubdomainErrors(name).length === 0 && name.startsWith("p"),
      "a name that is allowed, from a prefix of 201 characters",
      name,
    );

    refused(attempt, "names.mismatch", "a PUT of b to a", await configMaps.put("a", configMap("b")), 400);
    const elsewhere = await create({ name: "c", namespace: "touchstone-elsewhere" });
    refused(attempt, "names.mismatch", "a create for another namespace", elsewhere, 400);
    const now = objectOf(await configMaps.get("a"));
    const { resourceVersion } = now.metadata;
    attempt.expect(
      "names.mismatch",
      resourceVersion === both.metadata.resourceVersion,
      `a as it was, version ${String(both.metadata.resourceVersion)}`,
      `version ${String(resourceVersion)}`,
    );

    await judgeOtherKind(attempt, both.metadata.uid);
    await judgeClusterScope(attempt);
  },
});

async function judgeOtherKind(attempt: Attempt, uid: string | undefined): Promise<void> {
  const podTemplates = await attempt.target.collection("podtemplates");
  const template = { spec: { containers: [{ name: "main", image: "example.com/none:1" }] } };
  const body = { apiVersion: "v1", kind: "PodTemplate", metadata: { name: "a" }, template };
  const other = objectOf(await podTemplates.create(body), "names.kinds-apart");
  attempt.expect("names.kinds-apart", other.metadata.uid !== uid, "an object of its own", "the same uid");
}

/** The attempt's own namespace is the object of that name. */
async function judgeClusterScope(attempt: Attempt): Promise<void> {
  const name = await attempt.target.namespace();
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  const again = await attempt.client.request("POST", "/api/v1/namespaces", { body });
  // The documents promise one holder of a name, and name no status.
  const refusedSomehow = again.status >= 400 && again.status < 500;
  attempt.expect("names.cluster-scope", refusedSomehow, `another namespace ${name} refused`, String(again.status));
}

function refused(attempt: Attempt, requirement: string, what: string, answer: Answer, status: number): void {
  const reason = isJsonObject(answer.json) ? String(answer.json["reason"] ?? "") : "";
  attempt.expect(requirement, answer.status === status, `${what} answered ${status}`, `${answer.status} ${reason}`);
}
