/** Kinds of which little is said, and that little once. Source: the published validation. */
import { dns1123LabelErrors } from "../../../wire/names.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { invalidText, invalidValue, pushInvalid, requiredValue } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { KindRules } from "../../objects/kind-rules.ts";

const immutable = "field is immutable";

export const controllerRevisionRules: KindRules = {
  validate(revision, causes) {
    if ((revision["data"] ?? null) === null) causes.push(requiredValue("data", "data is mandatory"));
    const number = (revision["revision"] ?? 0) as number;
    if (number < 0) causes.push(invalidValue("revision", number, "must be greater than or equal to 0"));
  },
  validateUpdate(revision, live, causes) {
    // Simplification: the real server prints what was sent, in its language.
    if (!jsonEqual(revision["data"], live["data"]))
      causes.push(invalidText("data", "runtime.RawExtension{}", immutable));
  },
};

export const runtimeClassRules: KindRules = {
  validate(runtimeClass, causes) {
    const handler = (runtimeClass["handler"] ?? "") as string;
    pushInvalid("handler", handler, dns1123LabelErrors(handler), causes);
  },
  validateUpdate(runtimeClass, live, causes) {
    const handler = (runtimeClass["handler"] ?? "") as string;
    if (handler !== live["handler"]) causes.push(invalidValue("handler", handler, immutable));
  },
};

export const volumeAttachmentRules: KindRules = {
  validate(attachment, causes) {
    const spec = (attachment["spec"] ?? {}) as JsonObject;
    if ((spec["attacher"] ?? "") === "") causes.push(requiredValue("spec.attacher"));
    const source = (spec["source"] ?? {}) as JsonObject;
    if (source["inlineVolumeSpec"] === undefined && source["persistentVolumeName"] === undefined) {
      const detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
      causes.push(requiredValue("spec.source", detail));
    }
  },
  validateUpdate(attachment, live, causes) {
    if (jsonEqual(attachment["spec"], live["spec"])) return;
    causes.push(invalidText("spec", "storage.VolumeAttachmentSpec{}", immutable));
  },
};
