/** VolumeAttachments: what is attached never changes. Source: the published validation. */
import type { JsonObject } from "../../contract/http-message.ts";
import { invalidText, requiredValue } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, column, ageColumn } from "../shared/printer.ts";
import { text, booleanColumn } from "../shared/columns.ts";
import type { KindRow } from "../kind-row.ts";

const volumeAttachmentRules: KindRules = {
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
    causes.push(invalidText("spec", "storage.VolumeAttachmentSpec{}", "field is immutable"));
  },
};

export const volumeAttachmentKind: KindRow = {
  resource: "storage.svc.io/volumeattachments",
  unconditionalUpdate: false,
  returnsDeleted: true,
  rules: volumeAttachmentRules,
  columns: printer(
    nameColumn,
    column("Attacher", "Who attaches.", text("spec.attacher")),
    column("PV", "What is attached.", text("spec.source.persistentVolumeName")),
    column("Node", "To where.", text("spec.nodeName")),
    booleanColumn("Attached", "Whether it is done.", "status.attached"),
    ageColumn,
  ),
};
