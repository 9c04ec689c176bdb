/** VolumeAttachments: what is attached never changes. Source: the published validation. */
import type { JsonObject } from "../../contract/http-message.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, column, ageColumn } from "../shared/printer.ts";
import { text, booleanColumn } from "../shared/columns.ts";
import type { KindRow } from "../kind-row.ts";
import { struct, fieldRules, required, always, stepRules, immutableAs } from "../../objects/rules.ts";

const source = struct(({ inlineVolumeSpec, persistentVolumeName }: JsonObject, at) => {
  if (inlineVolumeSpec !== undefined || persistentVolumeName !== undefined) return;
  at.required("must specify exactly one of inlineVolumeSpec and persistentVolumeName");
});

const volumeAttachmentRules: KindRules = {
  validate: fieldRules({ "spec.attacher": required(), "spec.source": always(source) }),
  validateUpdate: stepRules({ spec: immutableAs(() => "storage.VolumeAttachmentSpec{}") }),
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
