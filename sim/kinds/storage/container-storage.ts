/** CSIDriver, CSINode, CSIStorageCapacity. Source: the published strategies and printers. */
import {
  printer,
  nameColumn,
  column,
  listAt,
  textAt,
  unset,
  orNone,
  at,
  ageColumn,
  integerColumn,
  sizeAt,
} from "../shared/printer.ts";
import { booleanColumn, text } from "../shared/columns.ts";
import type { KindRow } from "../kind-row.ts";

export const csiDriverKind: KindRow = {
  resource: "storage.svc.io/csidrivers",
  unconditionalUpdate: false,
  returnsDeleted: true,
  columns: printer(
    nameColumn,
    booleanColumn("AttachRequired", "Volumes must be attached first.", "spec.attachRequired"),
    booleanColumn("PodInfoOnMount", "The driver is told of the pod.", "spec.podInfoOnMount"),
    booleanColumn("StorageCapacity", "The driver reports capacity.", "spec.storageCapacity"),
    column("TokenRequests", "Tokens that the driver needs.", (it) => {
      const audiences = listAt(it, "spec.tokenRequests").map((request) => textAt(request, "audience"));
      return audiences.length === 0 ? unset : audiences.join(",");
    }),
    booleanColumn("RequiresRepublish", "Volumes are published again and again.", "spec.requiresRepublish"),
    column("Modes", "Kinds of volumes that it has.", (it) =>
      orNone(((at(it, "spec.volumeLifecycleModes") ?? []) as readonly string[]).join(",")),
    ),
    ageColumn,
  ),
};

export const csiNodeKind: KindRow = {
  resource: "storage.svc.io/csinodes",
  unconditionalUpdate: false,
  returnsDeleted: true,
  columns: printer(
    nameColumn,
    integerColumn("Drivers", "How many drivers the node has.", (it) => sizeAt(it, "spec.drivers")),
    ageColumn,
  ),
};

export const csiStorageCapacityKind: KindRow = {
  resource: "storage.svc.io/csistoragecapacities",
  unconditionalUpdate: false,
  columns: printer(
    nameColumn,
    column("StorageClassName", "For which class.", text("storageClassName")),
    column("Capacity", "How much there is.", (it) => textAt(it, "capacity") || unset),
  ),
};
