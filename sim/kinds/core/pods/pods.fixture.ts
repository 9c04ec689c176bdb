/** A pod with one container, and what is wrong with it. For tests. */
import type { JsonObject } from "../../../contract/http-message.ts";
import { create, endpoint } from "../../../objects/objects.fixture.ts";
import { validateCreate } from "../../../objects/validation.ts";

const pods = endpoint("v1/pods");

/** Causes as `field: message` of a new pod with this spec. */
export const podCauses = (spec: JsonObject): readonly string[] =>
  validateCreate(create({ metadata: { name: "p" }, spec }, pods), pods.strategy).map(
    ({ field, message }) => `${field}: ${message}`,
  );

/** The same of a pod whose one container has these fields; paths begin at the container. */
export const containerCauses = (container: JsonObject, spec: JsonObject = {}): readonly string[] =>
  podCauses({ ...spec, containers: [{ name: "c", image: "i", ...container }] }).map((text) =>
    text.replaceAll("spec.containers[0].", ""),
  );
